"""The GKE versions that the sandbox offers."""

from __future__ import annotations

from fracgpu.sandbox.gke.errors import invalid

VERSION = "1.35.3-gke.1389000"
"""What control planes run, and nodes unless told otherwise."""

VERSIONS = (VERSION, "1.34.6-gke.1154000", "1.33.9-gke.1060000")
"""Newest first."""


def node_version(asked: str) -> str:
    """The full version that a caller means: `-` is the control plane's, `latest` the newest, 1.34 the newest 1.34.

    Raises INVALID_ARGUMENT for a version that is not offered.
    """
    if asked in ("", "-", "latest"):
        return VERSION
    for version in VERSIONS:
        if version == asked or version.startswith((f"{asked}.", f"{asked}-")):
            return version
    raise invalid(f'Node version "{asked}" is unsupported.')
