"""Where `fracgpu` and `python -m fracgpu` begin."""

from __future__ import annotations

import sys

from fracgpu import __version__


def main() -> None:
    """Run the command line. `--version` alone is answered before anything heavy is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"fracgpu {__version__}\n")
        return
    from fracgpu.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
