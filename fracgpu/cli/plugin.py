"""`fracgpu plugin`: what the NVIDIA device plugin of a cluster has to be told."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli import output
from fracgpu.cli.choices import ContextYesOption
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.lazy import group
from fracgpu.cli.manifests import write_manifests
from fracgpu.cli.output import ManifestOption, Output, say_notes
from fracgpu.cli.promised import promises
from fracgpu.cli.streams import to_stderr
from fracgpu.kube import plugin, startup_taint
from fracgpu.kube.mig_manager import mig_config_map, mig_document
from fracgpu.kube.values import Chart
from fracgpu.kube.values import values as chart_values

HERE = "fracgpu.cli.plugin"
app = group(
    {
        "config": (HERE, "config", "The ConfigMap with every plugin config that node labels name"),
        "values": (HERE, "values", "Helm values for the chart that brings the plugin"),
        "mig-parted": (HERE, "mig_parted", "Configs of NVIDIA's MIG manager, custom layouts among them"),
        "mig-taint": (HERE, "mig_taint", "What lifts the startup taint of nodes that NVIDIA's MIG manager has cut"),
        "apply": ("fracgpu.cli.plugin_apply", "apply", "Write the ConfigMap into the cluster"),
    },
    "Config and chart values of the NVIDIA device plugin",
)

PoolName = Annotated[
    str | None,
    typer.Argument(metavar="POOL", help="Name of a pool (default: all of the cluster)", show_default=False),
]
Namespace = Annotated[str, typer.Option("--namespace", help="Namespace of the plugin")]


@with_spec
def config(
    flags: SpecFlags,
    name: PoolName = None,
    namespace: Namespace = plugin.NAMESPACE,
    yes: ContextYesOption = False,
    out: ManifestOption = Output.YAML,
) -> None:
    """The plugin's ConfigMap: every config that the labels of files, flags or existing pools name."""
    found = promises(name, flags, yes=yes)
    configs = plugin.gather(found.items)
    write_manifests([plugin.config_map(configs, namespace)] if configs.documents else [], out)
    say_notes((*found.notes, *configs.notes))
    if not configs.documents:
        nothing("to configure: no pool here needs a plugin config")


@with_spec
def values(
    flags: SpecFlags,
    chart: Annotated[Chart, typer.Option("--chart", help="Which chart", show_default=False)],
    name: PoolName = None,
    yes: ContextYesOption = False,
    out: ManifestOption = Output.YAML,
) -> None:
    """Helm values for the chart that brings the plugin, fitted to the cluster's pools."""
    found = promises(name, flags, yes=yes)
    made, notes = chart_values(chart, found.items, plugin.gather(found.items))
    if out is Output.JSON:
        said = [note.to_json() for note in (*found.notes, *notes)]
        output.write_json(output.document("HelmValues", {"chart": chart.value, "values": made, "notes": said}))
        return
    if made:
        output.write(output.to_yaml(made))
    else:
        nothing("to install: no pool here needs a device plugin of the cluster's own")
    say_notes((*found.notes, *notes))


@with_spec
def mig_parted(
    flags: SpecFlags,
    name: PoolName = None,
    config_map: Annotated[
        bool, typer.Option("--config-map", help="Wrapped in the ConfigMap that migManager.config.name names")
    ] = False,
    namespace: Namespace = plugin.NAMESPACE,
    yes: ContextYesOption = False,
    out: ManifestOption = Output.YAML,
) -> None:
    """The file of NVIDIA's MIG manager with a named config for every cut of the pools."""
    found = promises(name, flags, yes=yes)
    document = mig_document(found.items)
    if document is None:
        nothing("to cut: no pool here leaves its MIG layout to NVIDIA's MIG manager (eks.backend)")
    elif config_map:
        write_manifests([mig_config_map(document, namespace)], out)
    elif out is Output.JSON:
        output.write_json(document)
    else:
        output.write(output.to_yaml(document))
    say_notes(found.notes)


@with_spec
def mig_taint(
    flags: SpecFlags,
    name: PoolName = None,
    image: Annotated[str, typer.Option("--image", help="An image with kubectl and a shell")] = startup_taint.IMAGE,
    namespace: Namespace = plugin.NAMESPACE,
    yes: ContextYesOption = False,
    out: ManifestOption = Output.YAML,
) -> None:
    """A Deployment that takes the startup taint off nodes whose GPUs NVIDIA's MIG manager has cut."""
    found = promises(name, flags, yes=yes)
    keys = startup_taint.startup_keys(found.items)
    write_manifests([one for key in keys for one in startup_taint.manifests(key, namespace, image)], out)
    if not keys:
        nothing("to lift: no pool here has a startup taint (eks.startupTaint)")
    say_notes(found.notes)


def nothing(what: str) -> None:
    """Said with -q too: whoever sees no answer has to know that there is none."""
    to_stderr(f"nothing {what}\n")
