"""SPEC FLAGS: each is one field of the file form. One declaration serves every command that takes a pool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any

import typer

WHERE = ("provider", "cluster", "resource_group", "subscription", "project", "location", "region")
"""The flags that name a cluster, and say nothing of a pool."""
CLUSTER, HARDWARE, SHARING, SIZE, MARKS = "Cluster", "Hardware", "Sharing", "Size", "Labels and more"


def option(*names: str, help: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, metavar=metavar, show_default=False)


Words = list[str] | None


@dataclass(slots=True)
class SpecFlags:
    """The flags as typed; None is not said. `fracgpu.cli.spec_of` makes the file form of them."""

    provider: Annotated[
        str | None, option("--provider", help="aks, gke or eks (azure, gcp, aws)", panel=CLUSTER, metavar="CLOUD")
    ] = None
    cluster: Annotated[str | None, option("--cluster", help="Name of the cluster", panel=CLUSTER, metavar="NAME")] = (
        None
    )
    resource_group: Annotated[
        str | None, option("--resource-group", help="AKS: its resource group", panel=CLUSTER, metavar="NAME")
    ] = None
    subscription: Annotated[
        str | None, option("--subscription", help="AKS: its subscription", panel=CLUSTER, metavar="ID")
    ] = None
    project: Annotated[str | None, option("--project", help="GKE: its project", panel=CLUSTER, metavar="ID")] = None
    location: Annotated[
        str | None, option("--location", help="GKE: its region or zone", panel=CLUSTER, metavar="PLACE")
    ] = None
    region: Annotated[str | None, option("--region", help="EKS: its region", panel=CLUSTER, metavar="REGION")] = None
    gpu: Annotated[
        str | None, option("--gpu", help="GPU, as a100-40gb, T4, h100 ...", panel=HARDWARE, metavar="GPU")
    ] = None
    machine: Annotated[
        str | None, option("--machine", help="Machine type of the cloud", panel=HARDWARE, metavar="TYPE")
    ] = None
    mig: Annotated[
        str | None,
        option("--mig", help="MIG profile, 1g.5gb, or a layout, 3g.20gb=1,1g.5gb=2", panel=SHARING, metavar="PROFILE"),
    ] = None
    mig_strategy: Annotated[
        str | None, option("--mig-strategy", help="single or mixed", panel=SHARING, metavar="HOW")
    ] = None
    time_slicing: Annotated[
        int | None, option("--time-slicing", help="Shares of each GPU or slice", panel=SHARING, metavar="N")
    ] = None
    mps: Annotated[int | None, option("--mps", help="MPS clients of each GPU or slice", panel=SHARING, metavar="N")] = (
        None
    )
    one_share_per_container: Annotated[
        bool | None,
        option("--one-share-per-container", help="Refuse a container that asks for several shares", panel=SHARING),
    ] = None
    rename_shared: Annotated[
        bool | None, option("--rename-shared", help="Call shares nvidia.com/gpu.shared", panel=SHARING)
    ] = None
    backend: Annotated[
        str | None,
        option(
            "--backend",
            "--mig-backend",
            help="EKS, who cuts and shares: device-plugin, bottlerocket, user-data or gpu-operator",
            panel=SHARING,
            metavar="WHO",
        ),
    ] = None
    nodes: Annotated[int | None, option("--nodes", help="Nodes over all zones", panel=SIZE, metavar="N")] = None
    min: Annotated[int | None, option("--min", help="Fewest nodes (autoscaling)", panel=SIZE, metavar="N")] = None
    max: Annotated[int | None, option("--max", help="Most nodes (autoscaling)", panel=SIZE, metavar="N")] = None
    spot: Annotated[bool | None, option("--spot", help="The same as --capacity spot", panel=SIZE)] = None
    capacity: Annotated[
        str | None, option("--capacity", help="on-demand, spot or reserved", panel=SIZE, metavar="KIND")
    ] = None
    disk_gb: Annotated[int | None, option("--disk-gb", help="Size of the node's disk", panel=SIZE, metavar="GB")] = None
    zone: Annotated[Words, option("--zone", help="Zone (may be given again)", panel=SIZE, metavar="ZONE")] = None
    label: Annotated[Words, option("--label", help="Node label (may be given again)", panel=MARKS, metavar="K=V")] = (
        None
    )
    taint: Annotated[
        Words, option("--taint", help="Node taint (may be given again)", panel=MARKS, metavar="K=V:EFFECT")
    ] = None
    tag: Annotated[Words, option("--tag", help="Tag at the cloud (may be given again)", panel=MARKS, metavar="K=V")] = (
        None
    )
    no_gpu_taint: Annotated[
        bool | None, option("--no-gpu-taint", help="Leave out nvidia.com/gpu=present:NoSchedule", panel=MARKS)
    ] = None
    set: Annotated[
        Words,
        option(
            "--set",
            help="What only one cloud has: aks.osSku=Ubuntu (may be given again)",
            panel=MARKS,
            metavar="PATH=VALUE",
        ),
    ] = None
    file: Annotated[
        Words,
        option("-f", "--file", help="NodePool file, folder or - (may be given again)", panel=MARKS, metavar="FILE"),
    ] = None

    @property
    def said(self) -> list[str]:
        """The flags that were given, but for -f."""
        return [one.name for one in fields(self) if one.name != "file" and getattr(self, one.name) not in (None, [])]

    @property
    def describes(self) -> bool:
        """A file or flags say what the pool is; flags that only name a cluster do not."""
        return bool(self.file) or any(word not in WHERE for word in self.said)


def with_spec(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the SPEC FLAGS: its parameter `flags` is filled with a SpecFlags."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "flags"]
    hints = inspect.get_annotations(SpecFlags, eval_str=True)
    extra = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[one.name])
        for one in fields(SpecFlags)
    ]

    @wraps(command)
    def run(**given: Any) -> Any:
        flags = SpecFlags(**{one.name: given.pop(one.name) for one in extra})
        return command(flags=flags, **given)

    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    run.__signature__ = inspect.Signature([*own, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own, *extra)}
    return run
