"""`fracgpu sandbox set`: what the clouds have, and what is on the nodes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.lazy import group
from fracgpu.cli.sandbox import control
from fracgpu.errors import Invalid

HERE = "fracgpu.cli.sandbox_set"
app = group(
    {
        "operation-seconds": (HERE, "operation_seconds", "How long every operation takes"),
        "quota": (HERE, "quota", "A limit of an account"),
        "offering": (HERE, "offering", "A machine in a zone, on or off"),
        "node": (HERE, "node", "Labels, allocatable and readiness of a node"),
        "pdb": (HERE, "pdb", "A PodDisruptionBudget"),
        "pod": (HERE, "pod", "A pod on a node"),
    },
    "Quota, offerings, nodes, pods, operation time",
)

CloudOption = Annotated[str, typer.Option("--cloud", help="aks, gke or eks")]
Labels = Annotated[list[str] | None, typer.Option("--label", help="key=value (may be given again)", show_default=False)]


def _pairs(written: list[str] | None, flag: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in written or ()]
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise Invalid.one("usage", f"{flag} {wrong[0]!r} is not key=value", field=flag, hint=f"{flag} {wrong[0]}=VALUE")
    return {key: value for key, _, value in pairs}


def _set(kind: str, **fields: Any) -> None:
    doubts = control().set(kind, **fields)
    output.say(f"sandbox: {kind} set")
    for doubt in doubts:
        output.say(f"sandbox: {doubt}")


def operation_seconds(seconds: Annotated[float, typer.Argument(help="Seconds", min=0)]) -> None:
    """How long every operation takes from now on."""
    _set("operation-seconds", seconds=seconds)


def quota(
    cloud: CloudOption,
    metric: Annotated[str, typer.Option("--metric", help="The cloud's own name of the quota")],
    limit: Annotated[int, typer.Option("--limit", min=0, help="How much of it there is")],
    region: Annotated[str | None, typer.Option("--region", help="Only there", show_default=False)] = None,
) -> None:
    """A limit of an account; what goes beyond it is refused as that cloud refuses it."""
    _set("quota", cloud=cloud, metric=metric, limit=limit, region=region)


def offering(
    state: Annotated[str, typer.Argument(help="on or off")],
    cloud: CloudOption,
    machine: Annotated[str, typer.Option("--machine", help="Machine type")],
    zone: Annotated[str, typer.Option("--zone", help="Zone")],
) -> None:
    """A machine in a zone: there, or out of stock."""
    if state not in ("on", "off"):
        raise Invalid.one("usage", f"{state!r}: on or off", nearest=("on", "off"))
    _set("offering", cloud=cloud, machine=machine, zone=zone, on=state == "on")


def node(
    name: Annotated[str, typer.Argument(help="Name of the node")],
    label: Labels = None,
    allocatable: Annotated[
        list[str] | None, typer.Option("--allocatable", help="resource=number (may be given again)", show_default=False)
    ] = None,
    ready: Annotated[str | None, typer.Option("--ready", help="true or false", show_default=False)] = None,
) -> None:
    """What a node shows, against what its pool would make it show."""
    counts = _pairs(allocatable, "--allocatable")
    if wrong := [value for value in counts.values() if not value.isdecimal()]:
        message = f"--allocatable: {wrong[0]!r} is not a number"
        raise Invalid.one("usage", message, field="--allocatable", hint="--allocatable nvidia.com/gpu=7")
    if ready not in (None, "true", "false"):
        raise Invalid.one("usage", f"--ready {ready}: true or false", field="--ready", nearest=("true", "false"))
    numbers = {key: int(value) for key, value in counts.items()}
    _set(
        "node",
        name=name,
        labels=_pairs(label, "--label"),
        allocatable=numbers,
        ready=None if ready is None else ready == "true",
    )


def pdb(
    namespace: Annotated[str, typer.Option("--namespace", help="Namespace of the pods")],
    selector: Annotated[list[str], typer.Option("--selector", help="key=value of the pods (may be given again)")],
    min_available: Annotated[int, typer.Option("--min-available", min=0, help="Pods that must stay")],
) -> None:
    """A PodDisruptionBudget, which an eviction has to keep."""
    _set("pdb", namespace=namespace, selector=_pairs(selector, "--selector"), min_available=min_available)


def pod(
    node: Annotated[str, typer.Option("--node", help="Where it runs")],
    label: Labels = None,
) -> None:
    """A pod on a node, so that draining has something to do."""
    _set("pod", node=node, labels=_pairs(label, "--label"))
