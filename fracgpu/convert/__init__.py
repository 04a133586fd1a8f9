"""Commands of az, gcloud and aws -> NodePools.

    words -(a table of the tool's flags)-> the body that the tool would send -(read as an existing pool is)-> NodePool

So a command means here what it means there, defaults of the tool included, and planning the result gives the body that
the tool would have sent, but for what fracgpu does better. Every flag is accounted for in a note; one that is not known
is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fracgpu.convert import az, eks_cli, gcloud
from fracgpu.convert.flags import Given, Rows, read
from fracgpu.convert.made import Made
from fracgpu.convert.report import notes_on
from fracgpu.convert.shell import variables, words_of
from fracgpu.errors import Finding, Invalid, Level
from fracgpu.manifest import document_of
from fracgpu.plan import Json, Resource
from fracgpu.providers import Observed, Phase, PoolStatus, provider
from fracgpu.resolve import PLACEHOLDER, ClusterRef
from fracgpu.spec import NodePool


@dataclass(frozen=True, slots=True)
class Conversion:
    """The pool that a command makes, and what became of each of its flags."""

    pool: NodePool
    notes: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A command of another tool that makes node pools."""

    command: tuple[str, ...]
    rows: Rows
    short: dict[str, str]
    made: Callable[[Given], Made]


TOOLS = {
    "az": Tool(az.COMMAND, az.ROWS, az.SHORT, az.made),
    "gcloud": Tool(gcloud.COMMAND, gcloud.ROWS, gcloud.SHORT, gcloud.made),
    "aws": Tool(eks_cli.COMMAND, eks_cli.ROWS, {}, eks_cli.made),
}


def convert(arguments: Sequence[str]) -> Conversion:
    """The NodePool of a command, given as words or as one line. Raises Invalid for whatever cannot be understood."""
    words = words_of(arguments)
    name = PurePath(words[0]).name.removesuffix(".cmd") if words else ""
    if name not in TOOLS:
        known = ", ".join(" ".join((tool, *one.command)) for tool, one in TOOLS.items())
        message = f"{name or 'nothing'} is not a command that can be converted; these are: {known}"
        raise Invalid.one("usage", message, nearest=tuple(TOOLS), hint="fracgpu convert -- az aks nodepool add ...")
    tool = TOOLS[name]
    given = read(name, words[1:], tool.rows, tool.short)
    _command(given, tool)
    made = tool.made(given)
    pool, read_notes = _pool(made)
    document = document_of(pool)
    notes = [*notes_on(given, tool.rows, document), *made.notes, *read_notes, *_incomplete(made)]
    return Conversion(pool, (*notes, *variables(words)))


def _command(given: Given, tool: Tool) -> None:
    """The words that are no flags must be the command's own; those after them are left for its name."""
    release = given.positionals[:1] if given.positionals[:1] in (["beta"], ["alpha"]) else []
    words = given.positionals[len(release) :]
    if tuple(words[: len(tool.command)]) != tool.command:
        wanted = " ".join((given.tool, *tool.command))
        said = " ".join((given.tool, *given.positionals))
        raise Invalid.one("usage", f"{said} makes no node pool", nearest=(wanted,), hint=f"{wanted} ...")
    given.positionals = words[len(tool.command) :]


def _pool(made: Made) -> tuple[NodePool, tuple[Finding, ...]]:
    """The made body read as an existing pool is."""
    coordinates = {key: value for key, value in made.cluster.items() if value is not None}
    cluster = ClusterRef(made.provider, coordinates.pop("name", PLACEHOLDER), **coordinates)
    resource = Resource(made.kind, made.name, made.name, cluster, made.body)
    observed = Observed(made.name, cluster, (resource,), PoolStatus(Phase.READY), ours=False)
    pool, notes = provider(made.provider).read(observed)
    document = document_of(pool)
    for path, value in made.more.items():
        _put(document["spec"], path.split("."), value)
    if made.cluster.get("name") is None:
        del document["spec"]["cluster"]["name"]
    return NodePool.model_validate(document), notes


def _put(tree: Json, steps: Sequence[str], value: Any) -> None:
    """Set a field, or with None take it out."""
    *owners, last = steps
    for step in owners:
        tree = tree.setdefault(step, {})
    if value is None:
        tree.pop(last, None)
    else:
        tree[last] = value


def _incomplete(made: Made) -> Iterator[Finding]:
    """Coordinates that the command took from the tool's own settings."""
    for name, flag in (("name", "cluster"), ("resource_group", "resource-group"), ("location", "location")):
        if name in made.cluster and made.cluster[name] is None:
            message = f"the command does not say the cluster's {name.replace('_', ' ')}"
            yield Finding(
                "cluster-incomplete",
                message,
                Level.WARNING,
                field="spec.cluster",
                hint=f"write it into the file, or --{flag}",
            )
