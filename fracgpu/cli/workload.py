"""`fracgpu workload`: pods that land on a pool's slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from fracgpu.advertise import Explanation
from fracgpu.advertise import explain as contract
from fracgpu.cli import output
from fracgpu.cli.choices import ContextYesOption
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.lazy import group
from fracgpu.cli.manifests import write_manifests
from fracgpu.cli.output import ManifestOption, Output, say_notes
from fracgpu.cli.promised import one_promise
from fracgpu.errors import Invalid
from fracgpu.kube.truefoundry import Language, Shape
from fracgpu.kube.workload import Ask, Kind
from fracgpu.kube.workload import manifest as kubernetes_manifest

HERE = "fracgpu.cli.workload"
app = group(
    {
        "pod": (HERE, "pod", "A pod"),
        "deployment": (HERE, "deployment", "A Deployment"),
        "job": (HERE, "job", "A Job"),
        "dra": (HERE, "dra", "DeviceClass, ResourceClaimTemplate and pod for NVIDIA's DRA driver"),
        "truefoundry": (HERE, "truefoundry", "A job, service or notebook for TrueFoundry, as YAML or Python"),
    },
    "Pods that land on a pool's slices",
)

PoolName = Annotated[str | None, typer.Argument(metavar="POOL", help="Name of the pool", show_default=False)]
Gpus = Annotated[int, typer.Option("--gpus", help="Slices or shares a container gets", metavar="N")]
Image = Annotated[str | None, typer.Option("--image", help="Container image", show_default=False)]
Named = Annotated[str | None, typer.Option("--name", help="Name of the workload", show_default=False)]
Namespace = Annotated[str, typer.Option("--namespace", help="Namespace of the workload")]
OneResource = Annotated[
    str | None, typer.Option("--resource", help="Which resource, where nodes have several", show_default=False)
]
Lang = Annotated[Language, typer.Option("--lang", help="yaml or python (TrueFoundry)")]


def _command(kind: Kind, line: str) -> Callable[..., None]:
    @with_spec
    def run(
        flags: SpecFlags,
        name: PoolName = None,
        gpus: Gpus = 1,
        image: Image = None,
        named: Named = None,
        namespace: Namespace = "default",
        resource: OneResource = None,
        yes: ContextYesOption = False,
        lang: Lang = Language.YAML,
        out: ManifestOption = Output.YAML,
    ) -> None:
        _yaml_only(lang)
        made, notes = kubernetes_manifest(
            kind, _explanation(name, flags, yes=yes), Ask(gpus, image, named, namespace, resource)
        )
        write_manifests([made], out)
        say_notes(notes)

    run.__doc__ = line
    return run


pod = _command(Kind.POD, "A pod that gets slices of the pool.")
deployment = _command(Kind.DEPLOYMENT, "A Deployment whose pods get slices of the pool.")
job = _command(Kind.JOB, "A Job whose pod gets slices of the pool.")


@with_spec
def dra(
    flags: SpecFlags,
    name: PoolName = None,
    gpus: Gpus = 1,
    image: Image = None,
    named: Named = None,
    namespace: Namespace = "default",
    resource: OneResource = None,
    yes: ContextYesOption = False,
    lang: Lang = Language.YAML,
    out: ManifestOption = Output.YAML,
) -> None:
    """DeviceClass, ResourceClaimTemplate and a pod that claims slices of the pool from NVIDIA's DRA driver."""
    from fracgpu.kube.dra import dra as claims

    _yaml_only(lang)
    made, notes = claims(_explanation(name, flags, yes=yes), Ask(gpus, image, named, namespace, resource))
    write_manifests(made, out)
    say_notes(notes)


@with_spec
def truefoundry(
    flags: SpecFlags,
    name: PoolName = None,
    gpus: Gpus = 1,
    image: Image = None,
    named: Named = None,
    resource: OneResource = None,
    shape: Annotated[Shape, typer.Option("--type", help="What is deployed")] = Shape.JOB,
    port: Annotated[int, typer.Option("--port", help="Port of a service")] = 8080,
    yes: ContextYesOption = False,
    lang: Lang = Language.YAML,
    out: ManifestOption = Output.YAML,
) -> None:
    """A TrueFoundry job, service or notebook on the pool: its manifest for `tfy deploy -f`, or Python for its SDK."""
    from fracgpu.kube.truefoundry import deployment, manifest, python

    explanation = _explanation(name, flags, yes=yes)
    model, notes = deployment(explanation, Ask(gpus, image, named, resource=resource), shape, port)
    if lang is Language.PYTHON:
        output.write(python(model))
    elif out is Output.JSON:
        output.write_json(manifest(model))
    else:
        output.write(output.to_yaml(manifest(model)))
    say_notes(notes)


def _explanation(name: str | None, flags: SpecFlags, *, yes: bool) -> Explanation:
    promise = one_promise(name, flags, yes=yes)
    return contract(promise.pool, promise.facts)


def _yaml_only(lang: Language) -> None:
    if lang is not Language.YAML:
        message = "Kubernetes manifests are YAML (or JSON with -o json)"
        raise Invalid.one("usage", message, field="--lang", hint="--lang python is for workload truefoundry")
