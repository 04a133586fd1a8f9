"""User data that has an Amazon Linux 2023 node cut its GPUs before its kubelet starts, at every boot.

A MIME document of two parts: a shell script (`mig-boot.sh` with a head of the pool's own), which cloud-init runs before
`nodeadm-run.service` starts the kubelet, and a NodeConfig that labels the node
(https://github.com/awslabs/amazon-eks-ami/tree/main/templates/al2023/runtime/rootfs/etc/systemd/system).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fracgpu.catalog.layout import by_size
from fracgpu.catalog.models import Gpu, Profile
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Layout, Mig

BOUNDARY = "==FRACGPU=="
HEAD, END = "# >>> the pool\n", "# <<< the pool\n"
LIMIT = 16 * 1024
"""Bytes of user data before base64: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html"""

CUTTER_LABEL = "fracgpu.dev/mig-backend"
"""On every node whose GPUs this script cuts, so that one can tell who did."""


def text(pool: ResolvedPool) -> str:
    """The MIME document of a pool of the user-data backend; empty for every other pool."""
    if pool.backend is not Backend.USER_DATA or not isinstance(pool.sharing.cut, Mig):
        return ""
    return _mime(script(pool), NODE_CONFIG)


NODE_CONFIG = f"""---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    flags:
      - --node-labels={CUTTER_LABEL}={Backend.USER_DATA.value}
"""
"""Flags are added to EKS's own (https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/api/merge.go)."""


def _mime(shell: str, node_config: str) -> str:
    return f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="{BOUNDARY}"

--{BOUNDARY}
Content-Type: text/x-shellscript; charset="us-ascii"

{shell}
--{BOUNDARY}
Content-Type: application/node.eks.aws

{node_config}
--{BOUNDARY}--
"""


@cache
def template() -> str:
    """The script as it stands in the package, whole in itself: it cuts nothing until its head is a pool's own."""
    return Path(__file__).with_name("mig-boot.sh").read_text(encoding="ascii")


def script(pool: ResolvedPool) -> str:
    """The script of a pool."""
    cut = pool.sharing.cut
    assert isinstance(cut, Mig), "only a cut pool has a script"
    before, _, rest = template().partition(HEAD)
    return before + "\n".join(_head(pool, cut)) + "\n" + rest.partition(END)[2]


def _head(pool: ResolvedPool, cut: Mig) -> Iterator[str]:
    """What differs from pool to pool, as plain shell."""
    yield f"readonly reboots={int(pool.gpu.reboots_for_mig)}"
    yield "# Of each GPU; one without stays whole."
    yield f"readonly -a instances=({' '.join(str(_instances(layout)) for layout in cut.devices)})"
    yield "# The largest first: a small instance can stand where only a large one fits."
    yield "create() {"
    lines = [f"  nvidia-smi mig -i {gpus} -cgi {_order(pool, layout)} -C" for gpus, layout in _groups(cut)]
    yield " &&\n  ".join(lines)
    yield "}"


def _instances(layout: Layout | None) -> int:
    return sum(count for _, count in layout or ())


def _groups(cut: Mig) -> Iterator[tuple[str, Layout]]:
    """Each layout and the GPUs that have it, as `nvidia-smi` takes a list of them."""
    places: dict[Layout, list[str]] = {}
    for index, layout in enumerate(cut.devices):
        if layout:
            places.setdefault(layout, []).append(str(index))
    for layout, indexes in places.items():
        yield ",".join(indexes), layout


def _order(pool: ResolvedPool, layout: Layout) -> str:
    counts = dict(layout)
    names = [_word(profile) for profile in by_size(pool.gpu) for _ in range(counts.get(profile.name, 0))]
    return shlex.quote(",".join(names))


def _word(profile: Profile) -> str:
    """A profile as `nvidia-smi` takes it: by name, by number where drivers disagree about the name."""
    if profile.other_names and profile.profile_id is not None:
        return str(profile.profile_id)
    return profile.name


_CREATE = re.compile(r"^ +nvidia-smi mig -i (?P<gpus>[\d,]+) -cgi (?P<words>\S+) -C", re.MULTILINE)
_INSTANCES = re.compile(r"^readonly -a instances=\((?P<counts>[\d ]+)\)$", re.MULTILINE)


def read(document: str, gpu: Gpu) -> list[dict[str, int] | None] | None:
    """The layout of each GPU that a document of ours makes; None for a document that is not ours."""
    instances = _INSTANCES.search(document)
    if instances is None or BOUNDARY not in document:
        return None
    devices: list[dict[str, int] | None] = [None] * len(instances["counts"].split())
    for made in _CREATE.finditer(document):
        layout = _counts(shlex.split(made["words"])[0].split(","), gpu)
        if layout is None:
            return None
        for index in made["gpus"].split(","):
            devices[int(index)] = layout
    return devices


def _counts(words: list[str], gpu: Gpu) -> dict[str, int] | None:
    names = {_word(profile): profile.name for profile in gpu.profiles}
    if not set(words) <= set(names):
        return None
    counts: dict[str, int] = {}
    for word in words:
        counts[names[word]] = counts.get(names[word], 0) + 1
    return counts
