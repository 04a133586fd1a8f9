"""The root of the command line: its groups, and the one place where errors are caught and printed."""

from __future__ import annotations

import difflib
import os
import sys
from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.commands import GLOBAL_OPTIONS, GROUPS, root_help
from fracgpu.cli.globals import GLOBALS, take_globals
from fracgpu.cli.lazy import LazyGroup, group
from fracgpu.cli.streams import as_utf8
from fracgpu.errors import FracgpuError, Internal, Interrupted, Invalid

HELP: tuple[list[str], ...] = ([], ["-h"], ["--help"])
"""What is left of a command line that asks for the help of the whole program."""


COMPLETES = "_FRACGPU_COMPLETE"
"""Set by a shell that asks how a command line may go on."""


class Root(LazyGroup):
    """The program itself."""

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002
        return root_help()


def _version(wanted: bool) -> None:
    if wanted:
        from fracgpu import __version__

        output.write(f"fracgpu {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version")
    ] = False,
    sandbox: Annotated[bool, typer.Option("--sandbox", hidden=True)] = False,
    verbose: Annotated[bool, typer.Option("--verbose", hidden=True)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", hidden=True)] = False,
    config: Annotated[str, typer.Option(hidden=True)] = "",
    no_color: Annotated[bool, typer.Option("--no-color", hidden=True)] = False,
) -> None:
    """One GPU, many workloads: fractional GPU node pools on AKS, GKE and EKS."""
    # The global options are taken out of the arguments before; only a shell that completes a line meets them here.


def build() -> typer.Typer:
    """The whole command line, nothing of it loaded."""
    app = group(GROUPS, "fracgpu", Root, completion=True)
    app.callback()(root)
    return app


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; returns its exit code. Every error is printed here, once."""
    try:
        words = [as_utf8(word) for word in take_globals(sys.argv[1:] if arguments is None else arguments)]
        if words in HELP and COMPLETES not in os.environ:
            output.write(root_help())
            return 0
        code = build()(args=words, prog_name="fracgpu", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as end:  # typer's own way out, of a shell's completion and of a --help that nobody reads on
        if isinstance(end.__context__, BrokenPipeError):
            return 0
        return end.code if isinstance(end.code, int) else 0
    except FracgpuError as error:
        return _failed(error)
    except KeyboardInterrupt:
        return _failed(Interrupted("interrupted"))
    except Exception as error:  # noqa: BLE001 - the one place where anything is caught
        return _failed(_translated(error))


def _failed(error: FracgpuError) -> int:
    output.say_error(error)
    return error.exit_code


def _translated(error: Exception) -> FracgpuError:
    """Typer's own errors as usage errors; anything else is a bug, told without its data.

    Typer carries its own copy of click, so its classes are found by name.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    if "Abort" in names:
        return Interrupted("aborted")
    if "ClickException" in names:
        return _usage(error, names)
    if isinstance(error, BrokenPipeError):
        return Interrupted("the reader of the output has gone away")
    if GLOBALS.verbose:
        import traceback

        traceback.print_exc()
    return Internal(
        f"{type(error).__name__}: {error}", hint="run it again with -v and report what it prints; this is a bug"
    )


def _usage(error: Any, names: set[str]) -> Invalid:
    """A usage error with the flag it is about and, for a flag that does not exist, those that resemble it."""
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help" if context is not None else "fracgpu --help"
    if "NoSuchOption" in names:
        near = _nearest(error.option_name, context)
        message = f"{context.command_path if context else 'fracgpu'} has no option {error.option_name}"
        hint = f"did you mean {near[0]}?" if near else hint
        return Invalid.one("usage", message, field=error.option_name, nearest=near, hint=hint)
    names_of = getattr(getattr(error, "param", None), "opts", ())
    field = next((name for name in names_of if name.startswith("--")), getattr(error, "option_name", None))
    return Invalid.one("usage", " ".join(error.format_message().split()), field=field, hint=hint)


def _nearest(flag: str, context: Any) -> tuple[str, ...]:
    own = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)] if context else []
    everywhere = [name.split(",")[-1].split()[0] for name in GLOBAL_OPTIONS]
    known = [name for name in (*own, *everywhere) if name.startswith("--")]
    if not flag.startswith("--"):
        return tuple(dict.fromkeys(name for name in known if name.startswith(f"-{flag[:2]}")))[:3]
    return tuple(difflib.get_close_matches(flag.partition("=")[0], known, 3, 0.5))
