"""The root of the command line: its groups, and the one place where errors are caught and printed."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.commands import GROUPS, root_help
from fracgpu.cli.globals import GLOBALS, take_globals
from fracgpu.cli.lazy import LazyGroup, group
from fracgpu.cli.streams import as_utf8
from fracgpu.cli.usage import usage_error
from fracgpu.errors import FracgpuError, Internal, Interrupted

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
        return usage_error(error)
    if isinstance(error, BrokenPipeError):
        return Interrupted("the reader of the output has gone away")
    if GLOBALS.verbose:
        import traceback

        traceback.print_exc()
    return Internal(
        f"{type(error).__name__}: {error}", hint="run it again with -v and report what it prints; this is a bug"
    )
