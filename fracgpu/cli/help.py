"""A command whose --help is grouped as its options are, with examples, without rich."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand

from fracgpu.cli.coerce import Light
from fracgpu.cli.usage import argument_word, refuse_repeats

OWN = "Options"
WIDTH = 100
NAMES = ["-h", "--help"]


class Command(Light, TyperCommand):
    """One command. Options stand under their panels, in the order in which they were declared."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        settings["context_settings"] = {
            "help_option_names": NAMES,
            "max_content_width": WIDTH,
            **(settings.get("context_settings") or {}),
        }
        super().__init__(*args, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # a shell that completes a line is not corrected
            refuse_repeats(args, self.params)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        words = [argument_word(one) for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *words]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then a section a panel."""
        for title, rows in self._sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=34)

    def _sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None:
                continue
            row = (_plain(record[0]), record[1])
            if one.param_type_name == "argument":
                row = (argument_word(one), record[1].removesuffix("  [required]"))
            sections.setdefault(_panel(one), []).append(row)
        own = sections.pop(OWN, [])
        arguments = sections.pop("Arguments", [])
        return {title: rows for title, rows in (("Arguments", arguments), (OWN, own), *sections.items()) if rows}

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples as they are typed, and where the options of every command are."""
        from fracgpu.cli.examples import EXAMPLES

        for title, lines in (("Examples", EXAMPLES.get(ctx.command_path, ())), ("Everywhere", tuple(_everywhere()))):
            if lines:
                formatter.write_paragraph()
                formatter.write(f"{title}:\n" + "".join(f"  {line}\n" for line in lines))


KINDS = {
    " <str>": " TEXT",
    " <list[str]>": " TEXT",
    " <int>": " N",
    " <int range>": " N",
    " <float>": " N",
    " <float range>": " N",
    " <path>": " FILE",
}


def _plain(declaration: str) -> str:
    """An option without Python's names of types."""
    for kind, word in KINDS.items():
        declaration = declaration.replace(kind, word)
    return declaration


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or OWN


def _everywhere() -> Iterator[str]:
    from fracgpu.cli.commands import GLOBAL_OPTIONS

    words = [name for name in GLOBAL_OPTIONS if not name.endswith(("help", "version", "completion"))]
    yield f"{'  '.join(words)}    (fracgpu --help)"
