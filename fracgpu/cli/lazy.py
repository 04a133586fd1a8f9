"""Command groups whose commands are loaded and built when they are called, so that one command pays for one command."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_command_from_info

from fracgpu.cli.coerce import Light
from fracgpu.cli.help import NAMES, WIDTH, Command
from fracgpu.errors import Invalid
from fracgpu.nearest import nearest_words

SETTINGS = "command_settings"
"""The attribute of a function that has more of typer's settings for its command."""


class LazyGroup(Light, TyperGroup):
    """A group that knows its commands by name and builds each when it is asked for. Alone it prints its help.

    `commands_at` is name -> (module, attribute, one line of help); the attribute is a Typer app (a group) or a
    function.
    """

    commands_at: ClassVar[dict[str, tuple[str, str, str]]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or NAMES[:1])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands_at)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in self.commands_at:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = self._build(cmd_name)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names. Raises Invalid with the nearest where there is none."""
        name = args[0]
        if name in self.commands_at or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = nearest_words(name, self.commands_at)
        hint = f"did you mean {ctx.command_path} {near[0]}?" if near else f"{ctx.command_path} --help"
        raise Invalid.one("usage", f"{ctx.command_path} has no command {name}", nearest=near, hint=hint)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """The list of commands in --help, from the table alone: no command is loaded for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self.commands_at.items()])

    def _build(self, name: str) -> Any:
        module, attribute, line = self.commands_at[name]
        target = getattr(importlib.import_module(module), attribute)
        if isinstance(target, typer.Typer):
            group = get_command(target)
            group.name, group.short_help, group.help = name, line, group.help or line
            return group
        info = typer.models.CommandInfo(
            name=name, cls=Command, callback=target, short_help=line, **getattr(target, SETTINGS, {})
        )
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


def group(
    commands_at: dict[str, tuple[str, str, str]],
    line: str,
    kind: type[LazyGroup] = LazyGroup,
    *,
    completion: bool = False,
) -> typer.Typer:
    """A Typer app of lazily built commands; with `completion` it can install itself in a shell."""
    own = type("Group", (kind,), {"commands_at": commands_at})
    settings = {"help_option_names": NAMES, "max_content_width": WIDTH}
    app = typer.Typer(cls=own, help=line, add_completion=completion, rich_markup_mode=None, context_settings=settings)
    app.callback()(_nothing)
    return app


def takes_flags_of_others(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose arguments may look like options: from its first argument on, none is its own."""
    settings = {"context_settings": {"allow_interspersed_args": False}}
    setattr(command, SETTINGS, settings)
    return command


def _nothing() -> None:
    """Group of commands."""
