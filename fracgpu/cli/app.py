"""The root of the command line: its groups, what every run has in common, and the one place where errors are printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.globals import GLOBALS, take_globals
from fracgpu.cli.lazy import group
from fracgpu.errors import FracgpuError, Internal, Interrupted, Invalid

HERE = "fracgpu.cli"
GROUPS = {
    "pool": (f"{HERE}.pool", "app", "Make, change, look at and remove node pools"),
    "catalog": (f"{HERE}.catalog", "app", "GPUs, MIG profiles, machines and layouts"),
    "plugin": (f"{HERE}.plugin", "app", "Config and chart values of the NVIDIA device plugin"),
    "workload": (f"{HERE}.workload", "app", "Pods that land on a pool's slices"),
    "convert": (f"{HERE}.convert", "convert", "An az, gcloud or aws command -> NodePool YAML"),
    "fit": (f"{HERE}.fit", "fit", "The cheapest pools that hold your workloads"),
    "prices": (f"{HERE}.prices", "app", "Where prices come from"),
    "doctor": (f"{HERE}.doctor", "doctor", "What keeps fracgpu from working here, and the fix"),
    "schema": (f"{HERE}.schema", "schema", "The JSON Schema of the file form"),
    "config": (f"{HERE}.config", "app", "Which cluster is meant, and who said so"),
    "sandbox": (f"{HERE}.sandbox", "app", "Three clouds and a Kubernetes API on this machine, for trying"),
}


def _version(wanted: bool) -> None:
    if wanted:
        from fracgpu import __version__

        output.write(f"fracgpu {__version__}")
        raise typer.Exit


def root(
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Use the sandbox on this machine, not a cloud")] = False,
    config: Annotated[Path | None, typer.Option("--config", help="Your configuration file", show_default=False)] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say more, on stderr")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but warnings and errors on stderr")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour, as NO_COLOR=1")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """One GPU, many workloads: fractional GPU node pools on AKS, GKE and EKS.

    The options above stand before or after the command.
    """


def build() -> typer.Typer:
    app = group(GROUPS, "fracgpu")
    app.callback()(root)
    return app


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; returns its exit code. Every error is printed here, once."""
    words = take_globals(sys.argv[1:] if arguments is None else arguments)
    try:
        code = build()(args=words, prog_name="fracgpu", standalone_mode=False)
        return code if isinstance(code, int) else 0
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
        hint: str | None = None
        context: Any = getattr(error, "ctx", None)
        if context is not None:
            hint = f"{context.command_path} --help"
        return _usage(getattr(error, "message", str(error)) or "missing command", hint)
    if isinstance(error, BrokenPipeError):
        return Interrupted("the reader of the output has gone away")
    if GLOBALS.verbose:
        import traceback

        traceback.print_exc()
    return Internal(
        f"{type(error).__name__}: {error}", hint="run it again with -v and report what it prints; this is a bug"
    )


def _usage(message: str, hint: str | None) -> Invalid:
    return Invalid.one("usage", message, hint=hint)
