"""commands.md, from the command line itself: every command with its arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from docs.generator.markdown import code, page, table
from fracgpu.cli.app import build
from fracgpu.cli.cluster_flags import NAMES as CLUSTER_FLAGS
from fracgpu.cli.commands import GLOBAL_OPTIONS
from fracgpu.cli.examples import EXAMPLES
from fracgpu.cli.flags import SpecFlags

SPEC_FLAGS = frozenset(one.name for one in fields(SpecFlags))
POOL_FLAGS, CLUSTER_ONLY = "[pool flags](#pool-flags)", "[cluster flags](#cluster-flags)"


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: its words after `fracgpu`, and Typer's object."""

    path: tuple[str, ...]
    command: Any

    @property
    def takes_spec(self) -> bool:
        return self._names() >= SPEC_FLAGS

    @property
    def takes_cluster(self) -> bool:
        return self._names() >= set(CLUSTER_FLAGS)

    def _names(self) -> set[str]:
        return {one.name for one in self.command.params}

    def own_parameters(self) -> list[Any]:
        """Without those that many commands have alike."""
        shared = SPEC_FLAGS if self.takes_spec else frozenset(CLUSTER_FLAGS) if self.takes_cluster else frozenset()
        return [one for one in self.command.params if one.name not in (*shared, "help")]


def entries() -> list[Entry]:
    """Every command, in the order of --help."""
    from typer.main import get_command

    return list(_walk(get_command(build()), ()))


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[Entry]:
    if not hasattr(command, "list_commands"):
        yield Entry(path, command)
        return
    for name in command.list_commands(None):
        yield from _walk(command.get_command(None, name), (*path, name))


def commands() -> str:
    """Every command, the flags that many have stated once."""
    found = entries()
    index = [[f"[`{' '.join(entry.path)}`](#{anchor(entry)})", _line(entry)] for entry in found]
    parts = [
        GLOBAL,
        table(("before or after the command", ""), [[code(name), text] for name, text in GLOBAL_OPTIONS.items()]),
        table(("command", ""), index),
        _shared("Pool flags", SPEC_FLAGS, "Each is one field of the [file form](file-form.md)."),
        _shared("Cluster flags", frozenset(CLUSTER_FLAGS), "They say in which cluster a pool is."),
        *(_command(entry) for entry in found),
    ]
    return page("Commands", "the command line", *parts)


GLOBAL = "stdout is the answer, stderr everything else. Exit codes are in [errors.md](errors.md)."


def anchor(entry: Entry) -> str:
    return "-".join(("fracgpu", *entry.path))


def _line(entry: Entry) -> str:
    return (entry.command.short_help or entry.command.help or "").strip().splitlines()[0]


def _shared(title: str, names: frozenset[str], lead: str) -> str:
    model = next(entry for entry in entries() if entry.takes_spec)
    options = [one for one in model.command.params if one.name in names]
    rows = [[_spelling(one), _field(one.name), one.help] for one in options]
    return "\n\n".join([f"## {title}", lead, table(("flag", "field", ""), rows)])


FIELDS = {
    "provider": "cluster.provider",
    "cluster": "cluster.name",
    "resource_group": "cluster.resourceGroup",
    "subscription": "cluster.subscription",
    "project": "cluster.project",
    "location": "cluster.location",
    "region": "cluster.region",
    "gpu": "gpu",
    "machine": "machine",
    "mig": "sharing.mig.profile, .layout",
    "mig_strategy": "sharing.mig.strategy",
    "time_slicing": "sharing.timeSlicing.replicas",
    "mps": "sharing.mps.replicas",
    "one_share_per_container": "sharing.timeSlicing.failRequestsGreaterThanOne",
    "rename_shared": "sharing.renameByDefault",
    "backend": "eks.backend",
    "nodes": "nodes.count",
    "min": "nodes.min",
    "max": "nodes.max",
    "spot": "capacity",
    "capacity": "capacity",
    "disk_gb": "disk.sizeGb",
    "zone": "zones",
    "label": "labels",
    "taint": "taints",
    "tag": "tags",
    "no_gpu_taint": "gpuTaint",
    "set": "aks.*, gke.*, eks.*",
    "file": "",
}


def _field(name: str) -> str | None:
    """The field that a pool flag sets. A flag that is not in the table is a KeyError: say what it means."""
    return code(FIELDS[name])


def _command(entry: Entry) -> str:
    title = f"## fracgpu {' '.join(entry.path)}"
    parameters = entry.own_parameters()
    usage = " ".join(
        ["fracgpu", *entry.path, "[OPTIONS]", *(_argument(one) for one in parameters if _is_argument(one))]
    )
    also = POOL_FLAGS if entry.takes_spec else CLUSTER_ONLY if entry.takes_cluster else None
    parts = [title, (entry.command.help or _line(entry)).strip(), f"```text\n{usage}\n```"]
    if also:
        parts.append(f"Takes the {also}.")
    rows = [[_spelling(one), one.help, _default(one)] for one in parameters]
    if rows:
        parts.append(table(("", "", "default"), rows))
    if examples := EXAMPLES.get(f"fracgpu {' '.join(entry.path)}"):
        parts.append("\n".join(["```sh", *(re.sub(r" {2,}\((.*)\)$", r"  # \1", line) for line in examples), "```"]))
    return "\n\n".join(parts)


def _is_argument(parameter: Any) -> bool:
    return type(parameter).__name__ == "TyperArgument"


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    many = "..." if parameter.nargs == -1 else ""
    return f"{name}{many}" if parameter.required else f"[{name}{many}]"


def _spelling(parameter: Any) -> str:
    if _is_argument(parameter):
        return f"`{parameter.metavar or parameter.name.upper()}`"
    if parameter.is_flag:
        return ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
    *short, long = parameter.opts
    return ", ".join([*(f"`{word}`" for word in short), f"`{long} {_value(parameter)}`"])


def _value(parameter: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    annotation = parameter.type_descriptor.annotation
    words = {"int": "N", "float": "N", "Path": "FILE"}
    return words.get(getattr(annotation, "__name__", ""), "TEXT")


def _default(parameter: Any) -> str | None:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value is False or value == [] or (parameter.is_flag and not parameter.secondary_opts):
        return None
    if parameter.is_flag:
        return code(parameter.opts[0] if value else parameter.secondary_opts[0])
    return code(getattr(value, "value", value))
