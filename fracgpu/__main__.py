"""Where `fracgpu` and `python -m fracgpu` begin."""

from __future__ import annotations

import os
import sys

from fracgpu import __version__
from fracgpu.cli.streams import answer, mend


def main() -> None:
    """Run the command line. `--version` and `--help` alone are answered before anything heavy is imported."""
    mend()
    if sys.argv[1:] == ["--version"]:
        sys.exit(answer(f"fracgpu {__version__}\n"))
    if sys.argv[1:] in ([], ["--help"], ["-h"]) and "_FRACGPU_COMPLETE" not in os.environ:
        from fracgpu.cli.commands import root_help

        sys.exit(answer(root_help() + "\n"))
    from fracgpu.cli.quickstart import leave, quicken

    quicken()
    from fracgpu.cli.app import run

    leave(run())


if __name__ == "__main__":
    main()
