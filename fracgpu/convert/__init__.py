"""Commands of az, gcloud and aws -> NodePools.

    words -(a table of the tool's flags)-> the body that the tool would send -(read as an existing pool is)-> NodePool

So a command means here what it means there, defaults of the tool included, and planning the result gives the body that
the tool would have sent, but for what fracgpu does better. Every flag is accounted for in a note; one that is not known
is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from fracgpu.convert import az, eks_cli, eks_template, gcloud, gcloud_flags
from fracgpu.convert.flags import Given, Rows, read
from fracgpu.convert.made import Made
from fracgpu.convert.report import notes_on
from fracgpu.convert.shell import commands_of, variables
from fracgpu.errors import Finding, Invalid, Level
from fracgpu.manifest import document_of
from fracgpu.mistakes import findings_of
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
    """A command of another tool: the words that name it, and its flags."""

    command: tuple[str, ...]
    rows: Rows
    short: Mapping[str, str] = field(default_factory=dict)


Reader = Callable[[Sequence[Given]], Made]
TOOLS: Mapping[str, tuple[Reader, tuple[Tool, ...]]] = {
    "az": (az.made, (Tool(az.COMMAND, az.ROWS, az.SHORT),)),
    "gcloud": (gcloud.made, (Tool(gcloud_flags.COMMAND, gcloud_flags.ROWS, gcloud_flags.SHORT),)),
    "aws": (
        eks_cli.made,
        (Tool(eks_cli.COMMAND, eks_cli.ROWS), Tool(eks_template.COMMAND, eks_template.ROWS)),
    ),
}
"""By the name of the tool: what makes of its commands what they would make, and those that it has for that."""


def convert(arguments: Sequence[str]) -> Conversion:
    """The NodePool of a command, given as words or as text.

    A text may hold the command that makes a launch template before the one that makes its node group. Raises Invalid
    for whatever cannot be understood.
    """
    commands = commands_of(arguments)
    made, read_commands = _made(commands)
    try:
        pool, read_notes = _pool(made)
    except ValidationError as error:
        raise Invalid(findings_of(error)) from error
    document = document_of(pool)
    accounted = [note for given, tool in read_commands for note in notes_on(given, tool.rows, document)]
    words = [word for command in commands for word in command]
    return Conversion(pool, (*accounted, *made.notes, *read_notes, *_incomplete(made), *variables(words)))


def _made(commands: Sequence[Sequence[str]]) -> tuple[Made, list[tuple[Given, Tool]]]:
    names = {_name(words) for words in commands}
    known = {f"{name} {' '.join(tools[0].command)}": name for name, (_, tools) in TOOLS.items()}
    if len(names) != 1 or not names <= TOOLS.keys():
        said = " and ".join(sorted(name or "nothing" for name in names)) or "nothing"
        message = f"{said} cannot be converted; these commands can: {', '.join(known)}"
        raise Invalid.one("usage", message, nearest=tuple(known), hint="fracgpu convert -- az aks nodepool add ...")
    make, tools = TOOLS[names.pop()]
    given = [_read(words, tools) for words in commands]
    return make([one for one, _ in given]), given


def _name(words: Sequence[str]) -> str:
    return PurePath(words[0]).name.removesuffix(".cmd").removesuffix(".exe") if words else ""


def _read(words: Sequence[str], tools: Sequence[Tool]) -> tuple[Given, Tool]:
    """The flags of a command; its own words must be those of one that makes node pools."""
    name = _name(words)
    tool = next((one for one in tools if set(one.command) <= set(words)), tools[0])
    if not set(tool.command) <= set(words):
        wanted = tuple(" ".join((name, *one.command)) for one in tools)
        said = " ".join(word for word in words[:4] if not word.startswith("-"))
        raise Invalid.one("usage", f"{said} makes no node pool", nearest=wanted, hint=f"{wanted[0]} ...")
    given = read(name, words[1:], tool.rows, tool.short)
    release = given.positionals[:1] if given.positionals[:1] in (["beta"], ["alpha"]) else []
    rest = given.positionals[len(release) :]
    if tuple(rest[: len(tool.command)]) != tool.command:
        raise Invalid.one(
            "usage", f"{name} {' '.join(rest)} is not understood", hint=f"{name} {' '.join(tool.command)}"
        )
    given.command, given.positionals = tool.command, rest[len(tool.command) :]
    return given, tool


def _pool(made: Made) -> tuple[NodePool, tuple[Finding, ...]]:
    """The made bodies read as an existing pool is."""
    coordinates = {key: value for key, value in made.cluster.items() if value is not None}
    cluster = ClusterRef(made.provider, coordinates.pop("name", PLACEHOLDER), **coordinates)
    bodies = (*made.before, (made.kind, made.name, made.body))
    resources = tuple(Resource(kind, name, made.name, cluster, body) for kind, name, body in bodies)
    observed = Observed(made.name, cluster, resources, PoolStatus(Phase.READY), ours=False)
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
