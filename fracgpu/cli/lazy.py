"""Command groups whose commands are loaded and built when they are called, so that one command pays for one command."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_command_from_info


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and builds each when it is asked for.

    `commands_at` is name -> (module, attribute, one line of help); the attribute is a Typer app (a group) or a
    function.
    """

    commands_at: ClassVar[dict[str, tuple[str, str, str]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands_at)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in self.commands_at:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = self._build(cmd_name)
        return self.commands[cmd_name]

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
            name=name, callback=target, short_help=line, **getattr(target, "command_settings", {})
        )
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


def group(commands_at: dict[str, tuple[str, str, str]], line: str) -> typer.Typer:
    """A Typer app of lazily built commands."""
    kind = type("Group", (LazyGroup,), {"commands_at": commands_at})
    app = typer.Typer(cls=kind, help=line, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    app.callback()(_nothing)
    return app


def _nothing() -> None:
    """Group of commands."""
