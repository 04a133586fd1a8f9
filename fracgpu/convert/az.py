"""`az aks nodepool add`: what it sends to Azure Resource Manager.

Flags and defaults: https://learn.microsoft.com/cli/azure/aks/nodepool#az-aks-nodepool-add and
https://github.com/Azure/azure-cli (src/azure-cli/azure/cli/command_modules/acs).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fracgpu.catalog.models import ProviderName
from fracgpu.convert.flags import Given, Row, Takes, gap, only, runs, to, wrong
from fracgpu.convert.made import Made
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.plan import Json
from fracgpu.taints import GPU_TAINT_KEY, TAINT_TEXT, TaintEffect

COMMAND = ("aks", "nodepool", "add")
DEFAULT_COUNT = 3
SHORT = {
    "-n": "--name",
    "-g": "--resource-group",
    "-c": "--node-count",
    "-s": "--node-vm-size",
    "-e": "--enable-cluster-autoscaler",
    "-k": "--kubernetes-version",
    "-m": "--max-pods",
    "-z": "--zones",
    "-o": "--output",
    "-y": "--yes",
    "--nodepool-name": "--name",
    "--vnet-subnet": "--vnet-subnet-id",
}
_NONE, _MANY = Takes.NOTHING, Takes.MANY
_SHARING = ("sharing.timeSlicing", "sharing.mps", "sharing.renameByDefault", "sharing.configKey")
_UPGRADE = "aks.upgradeSettings"
ROWS: dict[str, Row] = {
    "--name": to("metadata.name"),
    "--cluster-name": to("cluster.name"),
    "--resource-group": to("cluster.resourceGroup"),
    "--subscription": to("cluster.subscription"),
    "--node-vm-size": to("machine"),
    "--node-count": to("nodes.count"),
    "--enable-cluster-autoscaler": to("nodes", takes=_NONE),
    "--min-count": to("nodes.min", "nodes.count"),
    "--max-count": to("nodes.max"),
    "--priority": to("capacity"),
    "--eviction-policy": to("aks.evictionPolicy"),
    "--spot-max-price": to("aks.spotMaxPrice"),
    "--labels": to("labels", *_SHARING, takes=_MANY),
    "--tags": to("tags", takes=_MANY),
    "--node-taints": to("taints"),
    "--node-osdisk-size": to("disk.sizeGb"),
    "--node-osdisk-type": to("aks.diskType"),
    "--os-sku": to("aks.osSku"),
    "--os-type": to("aks.osSku"),
    "--mode": to("aks.mode"),
    "--scale-down-mode": to("aks.scaleDownMode"),
    "--max-pods": to("aks.maxPods"),
    "--zones": to("zones", takes=_MANY),
    "--gpu-instance-profile": to("sharing.mig.profile"),
    "--gpu-driver": to("aks.driver"),
    "--skip-gpu-driver-install": to("aks.driver", takes=_NONE),
    "--kubernetes-version": to("aks.version"),
    "--vnet-subnet-id": to("aks.subnetId"),
    "--pod-subnet-id": to("aks.podSubnetId"),
    "--enable-fips-image": to("aks.fips", takes=_NONE),
    "--crg-id": to("aks.reservation", "capacity"),
    "--max-surge": to(f"{_UPGRADE}.maxSurge"),
    "--max-unavailable": to(f"{_UPGRADE}.maxUnavailable"),
    "--drain-timeout": to(f"{_UPGRADE}.drainTimeoutInMinutes"),
    "--node-soak-duration": to(f"{_UPGRADE}.nodeSoakDurationInMinutes"),
    "--undrainable-node-behavior": to(f"{_UPGRADE}.undrainableNodeBehavior"),
    "--vm-set-type": gap("another kind of pool than a scale set", usual=("VirtualMachineScaleSets",)),
    "--vm-sizes": gap("several machine types"),
    "--snapshot-id": gap("a snapshot to start from"),
    "--enable-node-public-ip": gap("public addresses of nodes", _NONE),
    "--node-public-ip-prefix-id": gap("a prefix for public addresses"),
    "--node-public-ip-tags": gap("tags of public addresses", _MANY),
    "--ppg": gap("a proximity placement group"),
    "--enable-encryption-at-host": gap("encryption at the host", _NONE),
    "--enable-ultra-ssd": gap("ultra disks", _NONE),
    "--kubelet-config": gap("kubelet settings"),
    "--linux-os-config": gap("Linux settings"),
    "--host-group-id": gap("a dedicated host group"),
    "--allowed-host-ports": gap("host ports", _MANY),
    "--asg-ids": gap("application security groups", _MANY),
    "--message-of-the-day": gap("a message of the day"),
    "--enable-vtpm": gap("a virtual TPM", _NONE),
    "--enable-secure-boot": gap("secure boot", _NONE),
    "--localdns-config": gap("a DNS of the node's own"),
    "--workload-runtime": gap("a workload runtime", usual=("OCIContainer",)),
    "--gateway-prefix-size": gap("a gateway"),
    "--disable-windows-outbound-nat": gap("Windows settings", _NONE),
    "--pod-ip-allocation-mode": gap("how pods get addresses", usual=("DynamicIndividual",)),
    "--enable-artifact-streaming": gap("artifact streaming", _NONE),
    "--aks-custom-headers": gap("headers of preview features"),
    "--no-wait": runs(_NONE),
    "--if-match": runs(),
    "--if-none-match": runs(),
    "--output": runs(),
    "--query": runs(),
    "--debug": runs(_NONE),
    "--verbose": runs(_NONE),
    "--only-show-errors": runs(_NONE),
    "--yes": runs(_NONE),
}


def made(commands: Sequence[Given]) -> Made:
    """The agent pool that the command makes."""
    given = only(commands)
    if given.positionals:
        raise Invalid.one("usage", f"az: what is {given.positionals[0]}?", hint="--name has the pool's name")
    if not given.has("--name"):
        raise Invalid.one("usage", "az: --name is missing", field="--name", hint="--name POOL")
    cluster = {
        "name": given.text("--cluster-name"),
        "resource_group": given.text("--resource-group"),
        "subscription": given.text("--subscription"),
    }
    body = {"properties": properties(given)}
    name = given.text("--name") or ""
    more = {"aks.autoscalerTags": None}  # az writes none; fracgpu does where they are needed
    return Made(ProviderName.AKS, "aks.agentPool", name, cluster, body, more, notes=tuple(_notes(given)))


def properties(given: Given) -> Json:
    """The body's properties, with what az itself adds."""
    return _said(
        vmSize=given.text("--node-vm-size"),
        osType=_word(given, "--os-type", ("Linux", "Windows")) or "Linux",
        osSKU=given.text("--os-sku") or _windows(given),
        enableNodePublicIP=False,
        **_counts(given),
        **_capacity(given),
        tags=given.pairs("--tags"),
        nodeLabels=_labels(given),
        osDiskSizeGB=given.number("--node-osdisk-size") or None,
        osDiskType=_word(given, "--node-osdisk-type", ("Managed", "Ephemeral")),
        upgradeSettings=_upgrades(given),
        type="VirtualMachineScaleSets",
        enableEncryptionAtHost=False,
        enableUltraSSD=False,
        enableFIPS=given.has("--enable-fips-image"),
        availabilityZones=given.words("--zones"),
        mode=_word(given, "--mode", ("System", "User")) or "User",
        scaleDownMode=_word(given, "--scale-down-mode", ("Delete", "Deallocate")) or "Delete",
        gpuInstanceProfile=_word(given, "--gpu-instance-profile", ("MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g")),
        gpuProfile=_driver(given),
        maxPods=given.number("--max-pods"),
        vnetSubnetID=given.text("--vnet-subnet-id"),
        podSubnetID=given.text("--pod-subnet-id"),
        orchestratorVersion=given.text("--kubernetes-version"),
        capacityReservationGroupID=given.text("--crg-id"),
    ) | {"nodeTaints": [_taint(text) for text in given.joined("--node-taints")]}


def _taint(text: str) -> str:
    if not TAINT_TEXT.fullmatch(text) or text.rpartition(":")[2] not in set(TaintEffect):
        raise wrong("--node-taints", text, "key=value:Effect", tuple(TaintEffect))
    return text


def _said(**members: object) -> Json:
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def _word(given: Given, flag: str, words: tuple[str, ...]) -> str | None:
    """One of a flag's words, whatever its case. Raises Invalid."""
    text = given.text(flag)
    if text is None:
        return None
    found = next((word for word in words if word.lower() == text.lower()), None)
    if found is None:
        raise wrong(flag, text, f"one of {', '.join(words)}", words)
    return found


def _windows(given: Given) -> str | None:
    if (given.text("--os-type") or "").lower() != "windows":
        return None
    raise Invalid.one(
        "missing-field", "which Windows it is, AKS decides", field="--os-sku", hint="--os-sku Windows2022"
    )


def _counts(given: Given) -> Json:
    count = given.number("--node-count")
    scaling = given.has("--enable-cluster-autoscaler")
    for flag in ("--min-count", "--max-count"):
        if given.has(flag) is not scaling:
            message = f"az takes {flag} with --enable-cluster-autoscaler, and needs it there"
            hint = f"leave {flag} out" if given.has(flag) else f"{flag} N"
            raise Invalid.one("usage", message, field=flag, hint=hint)
    count = DEFAULT_COUNT if count is None else count
    if not scaling:
        return {"count": count, "enableAutoScaling": False}
    low, high = given.number("--min-count") or 0, given.number("--max-count") or 0
    if not low <= count <= high:
        message = f"az takes a node count from --min-count {low} to --max-count {high}, not {count}"
        near = (str(min(max(count, low), high)),)
        raise Invalid.one("usage", message, field="--node-count", nearest=near, hint=f"--node-count {near[0]}")
    return {"count": count, "enableAutoScaling": True, "minCount": low, "maxCount": high}


def _capacity(given: Given) -> Json:
    policy = _word(given, "--eviction-policy", ("Delete", "Deallocate")) or "Delete"
    if (_word(given, "--priority", ("Regular", "Spot")) or "Regular") == "Spot":
        return {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": policy, "spotMaxPrice": _price(given)}
    if given.has("--spot-max-price"):
        message, hint = "az takes --spot-max-price with --priority Spot", "--priority Spot, or leave the price out"
        raise Invalid.one("usage", message, field="--spot-max-price", hint=hint)
    return {"scaleSetPriority": "Regular"}


def _price(given: Given) -> float:
    """Dollars an hour above which nodes are evicted; -1 is the price on demand. What else az refuses is refused."""
    text = given.text("--spot-max-price") or "-1"
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if price == -1:
        return -1
    if not 0 < price < math.inf or round(price, 5) != price:
        raise wrong("--spot-max-price", text, "-1, or a price above 0 with at most 5 decimals", ("-1",))
    return price


def _labels(given: Given) -> dict[str, str]:
    for word in given.words("--labels"):
        if "=" not in word:
            message, hint = f"--labels {word!r} is not KEY=VALUE", f"--labels {word}="
            raise Invalid.one("invalid-label", message, field="--labels", hint=hint)
    return given.pairs("--labels")


def _driver(given: Given) -> Json | None:
    word = _word(given, "--gpu-driver", ("Install", "None"))
    if given.has("--skip-gpu-driver-install"):
        word = "None"
    return {"driver": word} if word else None


def _upgrades(given: Given) -> Json:
    behaviour = _word(given, "--undrainable-node-behavior", ("Cordon", "Schedule")) or "Schedule"
    return _said(
        maxSurge=given.text("--max-surge"),
        maxUnavailable=given.text("--max-unavailable"),
        drainTimeoutInMinutes=given.number("--drain-timeout"),
        nodeSoakDurationInMinutes=given.number("--node-soak-duration"),
        undrainableNodeBehavior=behaviour,
    )


def _notes(given: Given) -> Iterator[Finding]:
    if not given.has("--node-count"):
        message = f"az makes {DEFAULT_COUNT} nodes where --node-count is not said"
        yield info("tool-default", message, field="spec.nodes.count")
    if not any(taint.startswith(GPU_TAINT_KEY) for taint in given.joined("--node-taints")):
        message = "the command puts no taint nvidia.com/gpu on the nodes, so pods without a GPU may land on them"
        hint = "take gpuTaint: false out of the file, and fracgpu taints them"
        yield warning("no-gpu-taint", message, field="spec.gpuTaint", hint=hint)
