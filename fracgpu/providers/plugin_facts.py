"""What NVIDIA's device plugin looks for on a node and how much it gives a container, wherever it runs."""

from __future__ import annotations

from typing import assert_never

from fracgpu.pluginkey import LABEL, key_of
from fracgpu.sharing import Mps, Share, Sharing, TimeSlicing


def config_label(sharing: Sharing) -> dict[str, str]:
    """The node label that names the plugin's config; empty where the plugin's own default says the same."""
    key = key_of(sharing)
    return {LABEL: key} if key else {}


def max_per_container(share: Share) -> int | None:
    """As many shares as a container asks for, unless told otherwise, and one under MPS; None for no limit.

    The plugin forces failRequestsGreaterThanOne under MPS up to v0.19, and defaults to it since
    (https://github.com/NVIDIA/k8s-device-plugin#with-cuda-mps).
    """
    match share:
        case None:
            return None
        case TimeSlicing(one_per_container=one):
            return 1 if one else None
        case Mps():
            return 1
    assert_never(share)
