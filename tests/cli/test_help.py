"""Help, and what is said to somebody who mistyped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from fracgpu.cli.app import build
from fracgpu.cli.commands import EXAMPLES, GROUPS, root_help
from fracgpu.cli.examples import EXAMPLES as EXAMPLES_OF
from fracgpu.cli.lazy import LazyGroup
from tests.cli.conftest import Cli


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group under a group, by its words."""
    for name in group.list_commands(None):
        inner = group.get_command(None, name)
        yield (*path, name), inner
        if isinstance(inner, LazyGroup):
            yield from commands(inner, (*path, name))


COMMANDS = dict(commands(get_command(build())))


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("--sandbox",), ("-q", "--help")])
def test_the_program_alone_prints_its_help_and_ends_well(words: tuple[str, ...], cli: Cli) -> None:
    ran = cli(*words)
    assert (ran.code, ran.out, ran.err) == (0, root_help() + "\n", "")
    assert all(name in ran.out for name in GROUPS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help(words: tuple[str, ...], cli: Cli) -> None:
    ran = cli(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: fracgpu {' '.join(words)}")
    assert not any(name in ran.out for name in ("<str>", "<int>", "list[str]", "None"))
    assert all(len(line) <= 120 for line in ran.out.splitlines())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_every_option_says_what_it_is(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    assert command.help
    if not isinstance(command, LazyGroup):
        assert [one.name for one in command.params if not one.help] == []


@pytest.mark.parametrize(
    "words", [words for words, one in COMMANDS.items() if isinstance(one, LazyGroup)], ids=" ".join
)
def test_a_group_alone_prints_its_help(words: tuple[str, ...], cli: Cli) -> None:
    assert cli(*words) == cli(*words, "--help")


def test_options_stand_under_their_panels(cli: Cli) -> None:
    lines = cli("pool", "create", "--help").out.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "Arguments:",
        "Options:",
        "Cluster:",
        "Hardware:",
        "Sharing:",
        "Size:",
        "Labels and more:",
        "Examples:",
        "Everywhere:",
    ]


def test_examples_are_of_commands_that_exist_and_of_flags_that_they_have() -> None:
    known = {f"fracgpu {' '.join(words)}": command for words, command in COMMANDS.items()}
    assert EXAMPLES_OF.keys() <= known.keys()
    for path, lines in EXAMPLES_OF.items():
        flags = {name for one in known[path].params for name in (*one.opts, *one.secondary_opts)}
        own = "\n".join(lines).split(" -- ")[0]
        words = [word for line in own.splitlines() for word in line.split("|")[0].split()]
        assert {word for word in words if word.startswith("--")} <= flags | {"--sandbox"}, path


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_first_examples_work(line: str, cli: Cli) -> None:
    words = line.split()[1:]
    ran = cli(*words, *(["--dry-run"] if "create" in words else []))
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (("pol",), "pool"),
        (("pool", "crate"), "create"),
        (("catalog", "profile"), "profiles"),
        (("pool", "explain", "--machin", "x"), "--machine"),
        (("pool", "create", "--timeslicing", "4"), "--time-slicing"),
        (("pool", "list", "--sandbx"), "--sandbox"),
        (("pool", "create", "--mgi", "1g.5gb"), "--mig"),
        (("pool", "create", "--node-count", "3"), "--nodes"),
        (("pool", "create", "--instance-type", "g5.xlarge"), "--machine"),
        (("pool", "create", "--prov", "gke"), "--provider"),
    ],
)
def test_what_was_meant_is_named(words: tuple[str, ...], nearest: str, cli: Cli) -> None:
    error = cli(*words, "-o", "json").error()
    assert (error["code"], error["exitCode"]) == ("usage", 2)
    assert error["nearest"][0] == nearest
    assert nearest in error["hint"]
    assert f"did you mean {'fracgpu ' if not nearest.startswith('-') else ''}" in cli(*words).err


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("pool", "create", "--gpu"), "--gpu needs a value", "fracgpu pool create --help"),
        (("pool", "delete"), "NAME... is missing", "fracgpu pool delete NAME..."),
        (("pool", "render", "--gpu", "l4"), "--as is missing", "fracgpu pool render --as az"),
        (("pool", "--provider", "gke", "list"), "fracgpu pool has no option --provider", "stand after the command"),
        (("pool", "create", "a", "b"), "fracgpu pool create has no use for b", "--help"),
        (("pool", "plan", "pools/a.yaml"), "fracgpu pool plan has no use for pools/a.yaml", "-f pools/a.yaml"),
        (("pool", "create", "--name", "a"), "fracgpu pool create has no option --name", "fracgpu pool create NAME"),
        (("pool", "create", "--replicas", "2"), "fracgpu pool create has no option --replicas", "--help"),
        (("pool", "create", "--spot", "true"), "--spot takes no value, and true stands behind it", "--spot alone"),
        (("pool", "create", "--disk-gb", "100GB"), "--disk-gb '100GB' is not a whole number", "--disk-gb 100"),
        (("pool", "list", "--provider", "gke", "--provider=eks"), "--provider is said twice, gke and eks", "leave one"),
    ],
)
def test_a_mistake_is_told_with_the_command_and_the_next_step(
    words: tuple[str, ...], message: str, hint: str, cli: Cli
) -> None:
    ran = cli(*words)
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"error usage: {message}")
    assert hint in ran.err.splitlines()[1]


def test_what_repeats_on_purpose_may_repeat(cli: Cli) -> None:
    words = ("pool", "explain", "--provider", "gke", "--gpu", "l4", "--gpu", "l4", "--label", "a=b", "--label", "c=d")
    assert cli(*words).code == 0


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("pool", "show"), None),
        (("pool", "render", "--mig", "1g.5gb"), "--as"),
        (("pool", "explain", "--nodes", "two"), "--nodes"),
        (("pool", "explain", "--gpu"), "--gpu"),
        (("catalog", "gpus", "-o", "xml"), "--output"),
        (("pool", "render", "--as", "pulumi"), "--as"),
        (("pool", "explain", "a", "b"), None),
        (("pool", "explain", "--spot=yes"), "--spot"),
        (("--config",), "--config"),
    ],
)
def test_every_usage_error_is_one_document_where_json_was_asked_for(
    words: tuple[str, ...], field: str | None, cli: Cli
) -> None:
    ran = cli("-o", "json", *words) if words[0] == "--config" else cli(*words[:2], "-o", "json", *words[2:])
    assert (ran.code, ran.out) == (2, "")
    error = ran.error()
    assert (error["kind"], error["code"], error["field"]) == ("Error", "usage", field)


def test_a_word_of_a_choice_is_taken_in_any_case(cli: Cli) -> None:
    assert cli("catalog", "gpus", "-o", "NAME").out == cli("catalog", "gpus", "-o", "name").out


def test_global_options_stand_before_or_after(cli: Cli) -> None:
    words = ("pool", "create", "--mig", "1g.5gb", "--dry-run", "-o", "json")
    assert cli("--sandbox", *words).json() == cli(*words, "--sandbox").json()
    assert cli("--sandbox", *words).json()["sandbox"] is True


def test_the_version_is_one_line(cli: Cli) -> None:
    from fracgpu import __version__

    assert cli("--version").out == f"fracgpu {__version__}\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fracgpu po", ["pool"]),
        ("fracgpu --sandbox pool cr", ["create"]),
        ("fracgpu pool create --sandbox --mig", ["--mig", "--mig-strategy", "--mig-backend"]),
        ("fracgpu pool render --as g", ["gcloud"]),
        ("fracgpu pool create --gpu l4 --gpu t4 --time", ["--timeout", "--time-slicing"]),
    ],
)
def test_a_shell_can_complete_a_line(line: str, words: list[str]) -> None:
    asked = {"_FRACGPU_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "fracgpu"], capture_output=True, text=True, check=True, env={**os.environ, **asked}
    )
    assert done.stdout.split() == words
