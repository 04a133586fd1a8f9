"""What differs between a pool as it is and as it should be: what GKE adds does not, what it can change is in place.

`ADDED` is the one list of what GKE puts into a pool by itself. Everything not on it that the desired body leaves open
is not compared at all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

from fracgpu.differences import Comparison, Effect, Path
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED
from fracgpu.providers.gke.desired import taint_order
from fracgpu.providers.gke.label_rules import USERS_OWN
from fracgpu.taints import GPU_TAINT_KEY

GPU_TAINT = {"key": GPU_TAINT_KEY, "value": "present", "effect": "NO_SCHEDULE"}

_REST = "https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters.nodePools"


@dataclass(frozen=True, slots=True)
class Added:
    """One thing that GKE adds, and what takes it out of a body again. `source` is where it is known from."""

    what: str
    source: str
    remove: Callable[[Json], None]


OUTPUTS = (
    "selfLink",
    "instanceGroupUrls",
    "status",
    "statusMessage",
    "conditions",
    "podIpv4CidrSize",
    "updateInfo",
    "etag",
    "networkConfig",
    "kubeletCertInfo",
)


def _outputs(body: Json) -> None:
    for name in OUTPUTS:
        body.pop(name, None)


def is_gke_label(key: str) -> bool:
    """A label that GKE puts on nodes itself."""
    return key.startswith("cloud.google.com/gke-") and key not in USERS_OWN


def _labels(body: Json) -> None:
    _keep(body["config"], "labels", lambda key: not is_gke_label(key))


def is_gke_resource_label(key: str) -> bool:
    return key.startswith("goog-")


def _resource_labels(body: Json) -> None:
    _keep(body["config"], "resourceLabels", lambda key: not is_gke_resource_label(key))


def _mark(body: Json) -> None:
    _keep(body["config"], "resourceLabels", lambda key: key not in (MANAGED, FLEET))


def _keep(config: Json, name: str, wanted: Callable[[str], bool]) -> None:
    kept = {key: value for key, value in config.pop(name, {}).items() if wanted(key)}
    if kept:
        config[name] = kept


def _affinity(body: Json) -> None:
    """Only a reservation of one's own choice is said by the file form; other affinities are defaults."""
    affinity = body["config"].get("reservationAffinity", {})
    if affinity.get("consumeReservationType") != "SPECIFIC_RESERVATION":
        body["config"].pop("reservationAffinity", None)


def _driver(body: Json) -> None:
    """An accelerator without a word about its driver is one of before 1.30.1-gke.1156000, when that meant none."""
    for accelerator in body["config"].get("accelerators", []):
        accelerator.setdefault("gpuDriverInstallationConfig", {"gpuDriverVersion": "INSTALLATION_DISABLED"})


def _zeros(body: Json) -> None:
    """Proto JSON leaves out zero and false."""
    body.setdefault("initialNodeCount", 0)
    for name in ("autoRepair", "autoUpgrade"):
        body.setdefault("management", {}).setdefault(name, False)
    for name in ("maxSurge", "maxUnavailable"):
        body.setdefault("upgradeSettings", {}).setdefault(name, 0)


def _autoscaling(body: Json) -> None:
    """Limits in totals; an autoscaling that is off says nothing."""
    scaling = body.pop("autoscaling", {})
    if not scaling.get("enabled"):
        return
    zones = len(body.get("locations", ())) or 1
    each = "maxNodeCount" in scaling
    low, high = (scaling.pop(name, 0) for name in ("minNodeCount", "maxNodeCount"))
    if each:
        scaling |= {"totalMinNodeCount": low * zones, "totalMaxNodeCount": high * zones}
    scaling.setdefault("totalMinNodeCount", 0)
    body["autoscaling"] = scaling


def _orders(body: Json) -> None:
    config = body["config"]
    for owner, name in ((body, "locations"), (config, "oauthScopes"), (config, "tags")):
        if name in owner:
            owner[name] = sorted(owner[name])
    if "taints" in config:
        config["taints"] = sorted(config["taints"], key=taint_order)


ADDED: tuple[Added, ...] = (
    Added("what only the server writes", _REST, _outputs),
    Added("labels cloud.google.com/gke-*", "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus", _labels),
    Added("resource labels goog-*", "https://github.com/hashicorp/terraform-provider-google", _resource_labels),
    Added("the mark of ownership", "fracgpu's own; never part of a diff", _mark),
    Added("a reservation affinity that names no reservation", _REST, _affinity),
    Added("a driver of no version", "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus", _driver),
    Added("zeros, which proto JSON leaves out", "https://protobuf.dev/programming-guides/json/", _zeros),
    Added("autoscaling that is off, and limits per zone", _REST, _autoscaling),
    Added("an order of its own", _REST, _orders),
)


def settled(observed: Resource) -> Resource:
    """The observed pool without what GKE added, in the form in which `desired` speaks."""
    body = copy.deepcopy(observed.body)
    body.setdefault("config", {})
    for added in ADDED:
        added.remove(body)
    return replace(observed, body=body)


def granted(observed: Json, desired: Json) -> Json:
    """What GKE may move while the desired body lets it.

    The mark of ownership; the node count under autoscaling; its own GPU taint where the pool has none with that key
    (https://github.com/hashicorp/terraform-provider-google/issues/7928); the rest of a version that is said in part;
    upper case in an image type.
    """
    body = {**observed, "config": dict(observed.get("config", {}))}
    config, wanted = body["config"], desired.get("config", {})
    mark = {key: value for key, value in wanted.get("resourceLabels", {}).items() if key in (MANAGED, FLEET)}
    config["resourceLabels"] = {**config.get("resourceLabels", {}), **mark}
    if desired.get("autoscaling", {}).get("enabled"):
        body["initialNodeCount"] = desired.get("initialNodeCount", 0)
    if not any(taint["key"] == GPU_TAINT_KEY for taint in wanted.get("taints", ())):
        config["taints"] = [taint for taint in config.get("taints", ()) if taint != GPU_TAINT]
    if str(body.get("version", "")).startswith(desired.get("version") or "\0"):
        body["version"] = desired["version"]
    if str(config.get("imageType", "")).upper() == str(wanted.get("imageType", "")).upper():
        config["imageType"] = wanted.get("imageType")
    return body


_ACCELERATOR: Path = ("config", "accelerators", "0")
_FIXED = "GKE sets it when the pool is made; a new pool is needed"
_RECYCLED = "GKE moves the nodes to new machines, by the surge settings"

_REPLACED: tuple[Path, ...] = (
    ("config", "accelerators"),
    ("config", "spot"),
    ("config", "reservationAffinity"),
    ("config", "oauthScopes"),
    ("config", "serviceAccount"),
    ("maxPodsConstraint",),
)
_ROLLED: tuple[Path, ...] = (
    ("config", "machineType"),
    ("config", "diskType"),
    ("config", "diskSizeGb"),
    ("config", "imageType"),
    ("config", "gvnic"),
    ("version",),
    (*_ACCELERATOR, "gpuSharingConfig"),
    (*_ACCELERATOR, "gpuDriverInstallationConfig"),
)
"""Sharing and driver change where type and count do not (https://github.com/GoogleCloudPlatform/magic-modules/pull/18493).
The device plugin reads its sharing from a file that a node gets at its start, hence new nodes
(https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/cmd/nvidia_gpu/nvidia_gpu.go)."""
_IGNORED: tuple[Path, ...] = (("config", "metadata"),)

_COMPARISON = Comparison(
    owned=frozenset(
        {
            ("config", "labels"),
            ("config", "taints"),
            ("config", "resourceLabels"),
            ("config", "tags"),
            ("config", "accelerators"),
            ("config", "spot"),
            ("config", "reservationAffinity"),
            ("autoscaling", "enabled"),
        }
    ),
    effects={
        **dict.fromkeys(_REPLACED, Effect.REPLACE),
        **dict.fromkeys(_ROLLED, Effect.ROLLING),
        **dict.fromkeys(_IGNORED, Effect.IGNORED),
    },
    why={**dict.fromkeys(_REPLACED, _FIXED), **dict.fromkeys(_ROLLED, _RECYCLED)},
    items=frozenset({("config", "accelerators")}),
    granted=granted,
)


def comparison(kind: str) -> Comparison:  # noqa: ARG001 - GKE has one kind of resource
    """How node pools are compared."""
    return _COMPARISON
