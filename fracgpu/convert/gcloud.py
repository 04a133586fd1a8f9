"""`gcloud container node-pools create`: what it sends to GKE.

Flags and defaults: https://cloud.google.com/sdk/gcloud/reference/container/node-pools/create
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.convert.flags import Given, only, wrong
from fracgpu.convert.gcloud_scopes import scopes
from fracgpu.convert.made import Made
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.plan import Json

DEFAULT_NODES = 3


def made(commands: Sequence[Given]) -> Made:
    """The node pool that the command makes."""
    given = only(commands)
    if len(given.positionals) != 1:
        what = f"one name, not {' '.join(given.positionals)}" if given.positionals else "the pool's name"
        raise Invalid.one("usage", f"gcloud container node-pools create takes {what}", hint="NAME comes after create")
    name = given.positionals[0]
    cluster = {name: given.text(f"--{flag}") for name, flag in COORDINATES.items()}
    body = {"name": name, **node_pool(given)}
    return Made(ProviderName.GKE, "gke.nodePool", name, cluster, body, _more(given), notes=tuple(_notes(given)))


COORDINATES = {"name": "cluster", "project": "project", "location": "location"}


def _more(given: Given) -> dict[str, Any]:
    """What an existing pool does not show as it was asked for.

    GKE puts its own taint on GPU nodes, the one that fracgpu would, and installs its usual driver where none is said:
    nothing is to be said of either. https://cloud.google.com/kubernetes-engine/docs/how-to/gpus
    """
    policy = given.text("--location-policy")
    said = {
        "gke.version": given.text("--node-version"),
        "gke.maxPods": given.number("--max-pods-per-node"),
        "gke.locationPolicy": policy and policy.upper(),
    }
    more: dict[str, Any] = {"gpuTaint": None, **{path: value for path, value in said.items() if value is not None}}
    if "gpu-driver-version" not in given.pairs("--accelerator", ","):
        more["gke.driver"] = None
    return more


def node_pool(given: Given) -> Json:
    """The body, with what gcloud itself adds."""
    surge, unavailable = given.number("--max-surge-upgrade"), given.number("--max-unavailable-upgrade")
    pods = given.number("--max-pods-per-node")
    nodes = given.number("--num-nodes")
    return {
        "initialNodeCount": DEFAULT_NODES if nodes is None else nodes,
        "config": _config(given),
        "management": {
            "autoRepair": not given.has("--no-enable-autorepair"),
            "autoUpgrade": not given.has("--no-enable-autoupgrade"),
        },
        "upgradeSettings": _said(maxSurge=1 if surge is None else surge, maxUnavailable=unavailable),
        **_said(
            autoscaling=_autoscaling(given),
            locations=given.joined("--node-locations"),
            maxPodsConstraint=None if pods is None else {"maxPodsPerNode": str(pods)},
        ),
    }


def _said(**members: object) -> Json:
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def _autoscaling(given: Given) -> Json | None:
    limits = _said(
        minNodeCount=given.number("--min-nodes"),
        maxNodeCount=given.number("--max-nodes"),
        totalMinNodeCount=given.number("--total-min-nodes"),
        totalMaxNodeCount=given.number("--total-max-nodes"),
        locationPolicy=(given.text("--location-policy") or "").upper() or None,
    )
    if not given.has("--enable-autoscaling"):
        if limits:
            message = "limits and a location policy go with --enable-autoscaling"
            raise Invalid.one("usage", message, field="--enable-autoscaling", hint="add it")
        return None
    if not (given.number("--max-nodes") or given.number("--total-max-nodes")):
        message = "autoscaling needs a largest number of nodes, and none is said"
        raise Invalid.one("usage", message, field="--max-nodes", hint="--max-nodes N, or --total-max-nodes N")
    return {"enabled": True, **limits}


def _config(given: Given) -> Json:
    gvnic = {"enabled": given.has("--enable-gvnic")}
    return _said(
        machineType=given.text("--machine-type"),
        accelerators=_accelerators(given),
        oauthScopes=scopes(given.joined("--scopes") or ["gke-default"]),
        labels=given.pairs("--node-labels", ","),
        taints=[_taint(text) for text in given.joined("--node-taints")],
        resourceLabels=given.pairs("--labels", ","),
        tags=given.joined("--tags"),
        spot=given.has("--spot") or None,
        reservationAffinity=_affinity(given),
        diskSizeGb=_disk(given.text("--disk-size")),
        diskType=given.text("--disk-type"),
        imageType=given.text("--image-type"),
        serviceAccount=given.text("--service-account"),
        gvnic=gvnic if given.has("--enable-gvnic") or given.has("--no-enable-gvnic") else None,
    )


STRATEGIES = {"time-sharing": "TIME_SHARING", "mps": "MPS"}
DRIVERS = {"default": "DEFAULT", "latest": "LATEST", "disabled": "INSTALLATION_DISABLED"}
MEMBERS = frozenset(
    {
        "type",
        "count",
        "gpu-partition-size",
        "gpu-sharing-strategy",
        "max-shared-clients-per-gpu",
        "gpu-driver-version",
    }
)


def _accelerators(given: Given) -> list[Json]:
    """The one accelerator of the command. Machines that have their GPU need none said; GKE then adds it."""
    if not given.has("--accelerator"):
        return _built_in(given.text("--machine-type") or "")
    said = given.pairs("--accelerator", ",")
    unknown = sorted(set(said) - MEMBERS)
    if unknown or "type" not in said:
        message = f"--accelerator has no {unknown[0]}" if unknown else "--accelerator needs a type"
        raise Invalid.one("usage", message, field="--accelerator", nearest=tuple(sorted(MEMBERS)))
    return [
        {
            "acceleratorType": said["type"],
            "acceleratorCount": _count(said.get("count", "1")),
            **_said(
                gpuPartitionSize=said.get("gpu-partition-size"),
                gpuSharingConfig=_sharing(said),
                gpuDriverInstallationConfig=_driver(said.get("gpu-driver-version")),
            ),
        }
    ]


def _count(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d?", text, re.ASCII):
        raise wrong("--accelerator count", text, "how many GPUs a node has", ("1",))
    return text


def _built_in(machine: str) -> list[Json]:
    rows = [row for row in query.find_machine(load(), ProviderName.GKE, machine) if not row.accessory]
    return [{"acceleratorType": row.accelerator, "acceleratorCount": str(row.gpu_count)} for row in rows[:1]]


def _driver(word: str | None) -> Json | None:
    if word is None:
        return None
    if word.lower() not in DRIVERS:
        raise wrong("--accelerator gpu-driver-version", word, f"one of {', '.join(DRIVERS)}", tuple(DRIVERS))
    return {"gpuDriverVersion": DRIVERS[word.lower()]}


def _sharing(said: dict[str, str]) -> Json | None:
    strategy, clients = said.get("gpu-sharing-strategy"), said.get("max-shared-clients-per-gpu")
    if strategy is None and clients is None:
        return None
    word = (strategy or "time-sharing").lower()
    if word not in STRATEGIES:
        raise wrong("--accelerator gpu-sharing-strategy", word, f"one of {', '.join(STRATEGIES)}", tuple(STRATEGIES))
    if clients is None or not clients.isdecimal():
        message, word = "how many containers share a GPU is not said", "max-shared-clients-per-gpu"
        raise Invalid.one("missing-field", message, field=f"--accelerator {word}", hint=f"--accelerator ...,{word}=N")
    return {"gpuSharingStrategy": STRATEGIES[word], "maxSharedClientsPerGpu": clients}


def _taint(text: str) -> Json:
    effects = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
    match = re.fullmatch(r"([^=:\s]+)=([^=:\s]*):(\w+)", text)
    effect = match and effects.get(match[3])
    if not match or not effect:
        raise wrong("--node-taints", text, "key=value:Effect", tuple(effects))
    return {"key": match[1], "value": match[2], "effect": effect}


def _affinity(given: Given) -> Json | None:
    word = given.text("--reservation-affinity")
    if word is None or word.lower() in ("any", "none"):
        return None
    name = given.text("--reservation")
    if word.lower() != "specific" or not name:
        raise wrong("--reservation-affinity", word, "any, none, or specific with --reservation", ("any", "specific"))
    return {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [name],
    }


UNITS = {"": 1.0, "GB": 1.0, "G": 1.0, "GIB": 1.0, "TB": 1024.0, "T": 1024.0, "TIB": 1024.0, "MB": 1 / 1024}


def _disk(text: str | None) -> int | None:
    """GB: gcloud counts in powers of two, and takes a bare number for GB."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,9})\s*([A-Za-z]*)", text)
    factor = match and UNITS.get(match[2].upper())
    if not match or factor is None:
        raise wrong("--disk-size", text, "a size such as 200GB")
    return max(int(int(match[1]) * factor), 1)


def _notes(given: Given) -> Iterator[Finding]:
    if not given.has("--num-nodes"):
        message = f"gcloud makes {DEFAULT_NODES} nodes in each zone where --num-nodes is not said"
        yield info("tool-default", message, field="spec.nodes.count")
    location = given.text("--location") or ""
    zonal = re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z]", location)
    first = given.number("--num-nodes")
    per_zone = first is None or any((first, given.number("--min-nodes"), given.number("--max-nodes")))
    if per_zone and not zonal and not given.has("--node-locations"):
        message = "gcloud counts nodes per zone, fracgpu in all; the zones are not said, so one zone was counted"
        hint = "multiply spec.nodes by the number of the cluster's zones (three in a region, as a rule)"
        yield warning("zones-unknown", message, field="spec.nodes", hint=hint)
