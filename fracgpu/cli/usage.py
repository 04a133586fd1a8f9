"""What typer finds wrong with a command line, in our words: the flag, what it takes, and whose --help has more.

Typer carries its own copy of click, so its classes are found by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from fracgpu.cli.commands import GLOBAL_OPTIONS
from fracgpu.errors import Invalid
from fracgpu.nearest import nearest_words

NAME = "NAME"
OTHERS = {
    "--name": NAME,
    "--nodepool-name": NAME,
    "--nodegroup-name": NAME,
    "--cluster-name": "--cluster",
    "--zones": "--zone",
    "--node-locations": "--zone",
    "--labels": "--label",
    "--node-labels": "--label",
    "--taints": "--taint",
    "--node-taints": "--taint",
    "--tags": "--tag",
    "--count": "--nodes",
    "--node-count": "--nodes",
    "--num-nodes": "--nodes",
    "--min-count": "--min",
    "--min-nodes": "--min",
    "--total-min-nodes": "--min",
    "--max-count": "--max",
    "--max-nodes": "--max",
    "--total-max-nodes": "--max",
    "--machine-type": "--machine",
    "--instance-type": "--machine",
    "--instance-types": "--machine",
    "--node-vm-size": "--machine",
    "--vm-size": "--machine",
    "--accelerator": "--gpu",
    "--gpu-type": "--gpu",
    "--gpu-instance-profile": "--mig",
    "--mig-profile": "--mig",
    "--max-shared-clients-per-gpu": "--time-slicing",
    "--disk-size": "--disk-gb",
    "--node-osdisk-size": "--disk-gb",
    "--preemptible": "--spot",
    "--priority": "--capacity",
    "--capacity-type": "--capacity",
    "--format": "--output",
    "--filename": "--file",
    "--no-prompt": "--yes",
    "--cloud": "--provider",
}
"""What az, gcloud, aws, kubectl and people call options, and what they are called here."""


def usage_error(error: Any) -> Invalid:
    """A usage error of typer's as one of ours, with the next step."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "fracgpu"
    match type(error).__name__:
        case "NoSuchOption":
            return _unknown(error.option_name, context, command)
        case "BadOptionUsage":
            return _misused(error, context, command)
        case "MissingParameter" if error.param is not None:
            return _missing(error.param, command)
    message, field = " ".join(error.format_message().split()), getattr(error, "option_name", None)
    if message.startswith("Got unexpected extra argument"):
        words = message.partition("(s) (")[2].rstrip(")") or "so many words"
        file = "--file" in _own(context) and words.endswith((".yaml", ".yml", ".json", "/"))
        hint = f"-f {words}" if file else f"{command} --help"
        return Invalid.one("usage", f"{command} has no use for {words}", hint=hint)
    return Invalid.one("usage", message, field=field, hint=f"{command} --help")


def _unknown(flag: str, context: Any, command: str) -> Invalid:
    """An option that does not exist: those that resemble it. A group has none of its own but --help."""
    commands = tuple(getattr(getattr(context, "command", None), "commands_at", ()))
    own = _own(context)
    known = [*own, *(name.split(",")[-1].split()[0] for name in GLOBAL_OPTIONS)]
    near = _nearest(flag, [name for name in known if name.startswith("--")])
    meant = OTHERS.get(flag.partition("=")[0])
    if meant in own:
        near = tuple(dict.fromkeys((meant, *near)))
    elif meant == NAME and not commands:
        hint = f"the name stands without a flag: {command} {NAME}"
        return Invalid.one("usage", f"{command} has no option {flag}", field=flag, hint=hint)
    message = f"{command} has no option {flag}"
    if commands and not near:
        hint = f"options stand after the command: {command} {commands[0]} {flag}"
        return Invalid.one("usage", message, field=flag, nearest=commands, hint=hint)
    hint = f"did you mean {near[0]}?" if near else f"{command} --help"
    return Invalid.one("usage", message, field=flag, nearest=near, hint=hint)


def _own(context: Any) -> list[str]:
    return [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)] if context else []


def _nearest(flag: str, known: Sequence[str]) -> tuple[str, ...]:
    if not flag.startswith("--"):
        return tuple(dict.fromkeys(name for name in known if name.startswith(f"-{flag[:2]}")))[:3]
    return nearest_words(flag.partition("=")[0], known, cutoff=0.7)


def _misused(error: Any, context: Any, command: str) -> Invalid:
    """A value where none belongs, or none where one does."""
    flag = error.option_name
    parameter = next((one for one in context.command.params if flag in one.opts), None) if context else None
    if parameter is None or parameter.is_flag:
        return Invalid.one("usage", f"{flag} takes no value", field=flag, hint=f"{command} --help")
    hint = f"{flag} {_value(parameter)}; {command} --help"
    return Invalid.one("usage", f"{flag} needs a value", field=flag, hint=hint)


def _missing(parameter: Any, command: str) -> Invalid:
    if parameter.param_type_name == "argument":
        name = argument_word(parameter)
        return Invalid.one("usage", f"{name} is missing", hint=f"{command} {name}; {command} --help")
    flag = _long(parameter)
    words = _words(parameter)
    hint = f"{command} {flag} {words[0] if words else _value(parameter)}; {command} --help"
    return Invalid.one("usage", f"{flag} is missing", field=flag, nearest=words, hint=hint)


def _long(parameter: Any) -> str:
    """The option's long name; messages name options by it."""
    return next((name for name in parameter.opts if name.startswith("--")), str(parameter.opts[0]))


def _words(parameter: Any) -> tuple[str, ...]:
    """What an option chooses among."""
    from enum import Enum

    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return tuple(str(one.value) for one in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def _value(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def argument_word(parameter: Any) -> str:
    """An argument as usage lines have it: NAME, [NAME], NAME..."""
    name = parameter.metavar or parameter.name.upper()
    if parameter.nargs != 1 and not name.endswith("..."):
        name = f"{name.removesuffix('S')}..."
    return name if parameter.required else f"[{name}]"


def refuse_repeats(arguments: Sequence[str], parameters: Sequence[Any]) -> None:
    """An option that takes one value, given with two, is a mistake. Raises Invalid.

    Typer takes the last; a second cluster or count that nobody acts on would be dropped in silence.
    """
    by_flag = {name: one for one in parameters for name in one.opts if name.startswith("-")}
    _refuse_truths(arguments, by_flag)
    seen: dict[str, str] = {}
    for given, value in _given(arguments, by_flag):
        flag = _long(by_flag[given])
        if seen.setdefault(flag, value) != value and not by_flag[given].multiple:
            message = f"{flag} is said twice, {seen[flag]} and {value}"
            raise Invalid.one("usage", message, field=flag, hint="leave one of the two out")


TRUTHS = frozenset({"true", "false", "yes", "no"})


def _refuse_truths(arguments: Sequence[str], by_flag: dict[str, Any]) -> None:
    """`--spot true` would name the pool "true"."""
    for flag, word in pairwise(arguments):
        if flag in by_flag and by_flag[flag].is_flag and word.lower() in TRUTHS:
            message = f"{flag} takes no value, and {word} stands behind it"
            raise Invalid.one("usage", message, field=flag, hint=f"{flag} alone means true")


def _given(arguments: Sequence[str], by_flag: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every option that takes a value, and its value."""
    words = iter(arguments)
    for word in words:
        if word == "--":
            return
        flag, equals, value = word.partition("=")
        if flag in by_flag and not by_flag[flag].is_flag:
            yield flag, value if equals else next(words, "")
