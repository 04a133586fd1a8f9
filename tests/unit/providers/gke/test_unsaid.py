"""What a pool can have is said by the file form, or said to be lost: nothing that the API knows is passed over."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google.cloud import container_v1

from fracgpu.errors import Level
from fracgpu.providers import gke
from fracgpu.providers.gke.unsaid import UNSAID
from tests.gke_pools import body, pool, seen

POOL = pool(machine="g2-standard-8")
BODY = body(machine="g2-standard-8")
SAID = {
    "config": {
        "accelerators", "diskSizeGb", "diskType", "gvnic", "imageType", "labels", "machineType", "oauthScopes",
        "resourceLabels", "serviceAccount", "spot", "tags", "taints",
    },
    "": {
        "autoscaling", "config", "initialNodeCount", "locations", "management", "maxPodsConstraint", "name",
    },
}  # fmt: skip
"""Members that the file form has fields for."""
OWN = {
    "config": {"effectiveCgroupMode"},
    "": {
        "conditions", "etag", "instanceGroupUrls", "kubeletCertInfo", "podIpv4CidrSize", "selfLink", "status",
        "statusMessage", "updateInfo", "version",
    },
}  # fmt: skip
"""Members that the server alone writes, or that follow the cluster."""


def words(message: Any) -> set[str]:
    return {field.json_name for field in message.pb().DESCRIPTOR.fields}


@pytest.mark.parametrize(
    ("prefix", "message"), [("config", container_v1.NodeConfig), ("", container_v1.NodePool)], ids=["config", "pool"]
)
def test_every_member_that_the_sdk_knows_is_placed(prefix: str, message: Any) -> None:
    paths = [one.member.removeprefix("config.") for one in UNSAID if one.member.startswith("config.") == bool(prefix)]
    unsaid = {path.split(".")[0] for path in paths}
    assert words(message) - SAID[prefix] - OWN[prefix] == unsaid


def placed(path: str, value: Any) -> dict[str, Any]:
    """The body of a pool with one member more."""
    found = copy.deepcopy(BODY)
    owner = found
    *above, last = path.split(".")
    for name in above:
        owner[name] = dict(owner.get(name, {}))
        owner = owner[name]
    owner[last] = value
    return found


@pytest.mark.parametrize("member", [one.member for one in UNSAID])
def test_what_the_file_cannot_say_is_a_note(member: str) -> None:
    _, notes = gke.read(seen(POOL, placed(member, {"x": 1})))
    assert member in [note.detail.get("member") for note in notes if note.code == "not-in-file-form"]
    assert all(note.level is not Level.ERROR for note in notes)


@pytest.mark.parametrize(("member", "usual"), [(one.member, value) for one in UNSAID for value in one.usual])
def test_what_says_nothing_is_no_note(member: str, usual: Any) -> None:
    _, notes = gke.read(seen(POOL, placed(member, usual)))
    assert member not in [note.detail.get("member") for note in notes if note.code == "not-in-file-form"]
