"""A Node object as a cloud's kubelet registers it."""

from __future__ import annotations

import hashlib
import uuid

from fracgpu.sandbox.kubernetes.discovery import GIT_VERSIONS
from fracgpu.sandbox.kubernetes.life import Life, Machine, with_conditions
from fracgpu.sandbox.world import Cloud, Json, Pool

KI = 1024 * 1024
PODS = {Cloud.AKS: 110, Cloud.GKE: 110, Cloud.EKS: 110}
OS_IMAGES = {
    Cloud.AKS: ("Ubuntu 22.04.5 LTS", "5.15.0-1096-azure", "containerd://1.7.28-1"),
    Cloud.GKE: ("Container-Optimized OS from Google", "6.6.105+", "containerd://2.0.6"),
    Cloud.EKS: ("Amazon Linux 2023.9.20250929", "6.1.153-175.280.amzn2023.x86_64", "containerd://2.1.4"),
}
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


def new_node(life: Life, pool: Pool, machine: Machine, zone: str) -> Json:
    """The node at the moment it joins: not ready, and nothing of NVIDIA's in its capacity."""
    cloud, shape = life.cluster.cloud, machine.shape
    capacity = _capacity(cloud, machine, _disk_gib(pool))
    taints = [{**taint, "effect": EFFECTS.get(taint["effect"], taint["effect"])} for taint in shape.taints]
    spec: Json = {
        "providerID": _provider_id(life, machine, zone),
        "taints": [*taints, {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
    }
    return {
        "metadata": {
            "name": machine.node,
            "labels": _labels(life, machine, zone),
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": spec,
        "status": {
            "addresses": _addresses(machine),
            "capacity": capacity,
            "allocatable": _allocatable(capacity),
            "conditions": _conditions(life.store.stamp()),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [],
            "nodeInfo": _info(cloud, pool, machine),
        },
    }


def _labels(life: Life, machine: Machine, zone: str) -> dict[str, str]:
    shape = machine.shape
    labels = {
        "beta.kubernetes.io/arch": shape.architecture,
        "beta.kubernetes.io/instance-type": shape.machine,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": shape.architecture,
        "kubernetes.io/hostname": machine.node,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": shape.machine,
    }
    region = _region(life)
    if region:
        labels["topology.kubernetes.io/region"] = region
    if zone:
        labels["topology.kubernetes.io/zone"] = zone
    return labels | shape.labels | ({"topology.kubernetes.io/zone": zone} if zone else {})


def _region(life: Life) -> str:
    match life.cluster.cloud:
        case Cloud.AKS:
            return ""
        case Cloud.GKE:
            parts = life.cluster.path[1].split("-")
            return "-".join(parts[:2])
        case Cloud.EKS:
            return life.cluster.path[0]


def _disk_gib(pool: Pool) -> int:
    body = pool.body
    found = body.get("osDiskSizeGB") or body.get("diskSize") or body.get("config", {}).get("diskSizeGb")
    return int(found or 100)


def _capacity(cloud: Cloud, machine: Machine, disk_gib: int) -> dict[str, str]:
    memory = int(machine.shape.memory_gib * KI * 0.985)
    return {
        "cpu": f"{machine.shape.vcpus:g}",
        "ephemeral-storage": f"{int(disk_gib * KI * 0.97)}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{memory}Ki",
        "pods": str(PODS[cloud]),
    }


def _allocatable(capacity: dict[str, str]) -> dict[str, str]:
    """What is left after the kubelet's and the system's reserve."""
    milli = int(float(capacity["cpu"]) * 1000)
    memory = int(capacity["memory"].removesuffix("Ki"))
    storage = int(capacity["ephemeral-storage"].removesuffix("Ki"))
    return {
        **capacity,
        "cpu": f"{milli - max(60, milli // 50)}m",
        "ephemeral-storage": str(int(storage * 1024 * 0.9)),
        "memory": f"{memory - min(memory // 5, 1024 * 1024 + memory // 20)}Ki",
    }


def _conditions(when: str) -> list[Json]:
    no_network = (
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
        "message:Network plugin returns error: cni plugin not initialized"
    )
    rows = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "False", "KubeletNotReady", no_network),
    ]
    conditions = [
        {"type": name, "status": status, "reason": reason, "message": text, "lastHeartbeatTime": when}
        for name, status, reason, text in rows
    ]
    return with_conditions([], *conditions, when=when)


def _address(machine: Machine) -> str:
    if machine.node.startswith("ip-"):
        return ".".join(machine.node.split(".")[0].split("-")[1:5])
    digest = hashlib.sha256(machine.node.encode()).digest()
    return f"10.224.{digest[0]}.{max(digest[1], 4)}"


def _addresses(machine: Machine) -> list[Json]:
    return [
        {"type": "InternalIP", "address": _address(machine)},
        {"type": "Hostname", "address": machine.node},
    ]


def _provider_id(life: Life, machine: Machine, zone: str) -> str:
    path = life.cluster.path
    match life.cluster.cloud:
        case Cloud.AKS:
            group = f"/subscriptions/{path[0]}/resourceGroups/mc_{path[1]}_{path[2]}"
            scale_set = f"{group}/providers/Microsoft.Compute/virtualMachineScaleSets/{machine.node[:-6]}"
            return f"azure://{scale_set}/virtualMachines/{machine.index}"
        case Cloud.GKE:
            return f"gce://{path[0]}/{zone}/{machine.node}"
        case Cloud.EKS:
            return f"aws:///{zone}/i-{hashlib.sha256(machine.node.encode()).hexdigest()[:17]}"


def _info(cloud: Cloud, pool: Pool, machine: Machine) -> Json:
    image, kernel, runtime = OS_IMAGES[cloud]
    if cloud is Cloud.EKS and str(pool.body.get("amiType", "")).startswith("BOTTLEROCKET"):
        image = "Bottlerocket (aws-k8s-1.34-nvidia)"
    seed = uuid.uuid5(uuid.NAMESPACE_DNS, machine.node)
    return {
        "architecture": machine.shape.architecture,
        "bootID": str(seed),
        "containerRuntimeVersion": runtime,
        "kernelVersion": kernel,
        "kubeProxyVersion": "",
        "kubeletVersion": _version(cloud, pool),
        "machineID": seed.hex,
        "operatingSystem": "linux",
        "osImage": image,
        "systemUUID": str(seed),
    }


def _version(cloud: Cloud, pool: Pool) -> str:
    """The pool's own version where its body has one that is complete."""
    found = str(pool.body.get("currentOrchestratorVersion") or pool.body.get("version") or "")
    return f"v{found}" if found.count(".") >= 2 else GIT_VERSIONS[cloud]
