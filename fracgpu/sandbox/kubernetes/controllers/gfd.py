"""The labels that GPU Feature Discovery and the GPU Operator put on a node.

Rules: https://github.com/NVIDIA/k8s-device-plugin/tree/main/internal/lm; an example of every label:
https://github.com/NVIDIA/cloud-native-docs/blob/main/gpu-operator/manifests/output/mig-mixed-node-labels.json
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from fracgpu.sandbox.kubernetes.controllers.gpus import Gpu, Slice
from fracgpu.sandbox.kubernetes.controllers.plugin_config import PluginConfig
from fracgpu.sandbox.world import Cuts

DRIVER = "580.95.05"
RUNTIME = "13.0"

FOUND_BY_NFD = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
}
"""What Node Feature Discovery says of a node with an NVIDIA device; the operator's DaemonSets wait for the first."""


def operator_labels(gpu: Gpu) -> dict[str, str]:
    """What the operator sets as soon as it knows that there is a GPU."""
    parts = ["container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver", "gpu-feature-discovery"]
    parts += ["node-status-exporter", "operator-validator", *(["mig-manager"] if gpu.slices else [])]
    return {"nvidia.com/gpu.present": "true", **{f"nvidia.com/gpu.deploy.{part}": "true" for part in parts}}


def labels(gpu: Gpu, count: int, cuts: Cuts, strategy: str, config: PluginConfig, machine: str) -> dict[str, str]:
    """All labels of a node with `count` such GPUs that are cut so."""
    common = _common(gpu, machine, strategy if gpu.slices else "none")
    if not any(cuts) or strategy == "none":
        return common | _whole(gpu, count, config)
    slices = Counter[str]()
    for cut in cuts:
        slices.update(cut)
    whole = sum(not cut for cut in cuts)
    if strategy == "single":
        return common | _single(gpu, {} if whole else slices, config)
    parent = _resource("gpu", gpu.product, count, gpu.mib, config if whole else PluginConfig())
    return common | (parent if whole else parent | {"nvidia.com/gpu.replicas": "0"}) | _mixed(gpu, slices, config)


def _common(gpu: Gpu, machine: str, strategy: str) -> dict[str, str]:
    major, minor, revision = DRIVER.split(".")
    runtime_major, runtime_minor = RUNTIME.split(".")
    capability = gpu.capability.split(".")
    return {
        "nvidia.com/cuda.driver-version.full": DRIVER,
        "nvidia.com/cuda.driver-version.major": major,
        "nvidia.com/cuda.driver-version.minor": minor,
        "nvidia.com/cuda.driver-version.revision": revision,
        "nvidia.com/cuda.runtime-version.full": RUNTIME,
        "nvidia.com/cuda.runtime-version.major": runtime_major,
        "nvidia.com/cuda.runtime-version.minor": runtime_minor,
        "nvidia.com/gpu.compute.major": capability[0],
        "nvidia.com/gpu.compute.minor": capability[1],
        "nvidia.com/gpu.family": gpu.family,
        "nvidia.com/gpu.machine": re.sub(r"[^A-Za-z0-9_.-]", "-", machine),
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/mig.capable": "true" if gpu.slices else "false",
        "nvidia.com/mig.strategy": strategy,
        "nvidia.com/vgpu.present": "false",
    }


def product_label(product: str) -> str:
    """A product name as a label value: spaces become dashes, what a label may not hold is dropped."""
    return re.sub(r"[^A-Za-z0-9-_. ]", "", product).replace(" ", "-")


def _resource(name: str, product: str, count: int, mib: int | None, config: PluginConfig) -> dict[str, str]:
    resource = f"nvidia.com/{name}"
    replicas = config.replicas.get(resource, 1)
    shared = replicas > 1
    suffix = "-SHARED" if shared and not config.rename else ""
    found = {
        f"{resource}.count": str(count),
        f"{resource}.product": product_label(product) + suffix,
        f"{resource}.replicas": str(replicas),
        f"{resource}.sharing-strategy": config.sharing if shared else "none",
    }
    return found if mib is None else {**found, f"{resource}.memory": str(mib)}


def _whole(gpu: Gpu, count: int, config: PluginConfig) -> dict[str, str]:
    mps = "true" if config.sharing == "mps" else "false"
    return _resource("gpu", gpu.product, count, gpu.mib, config) | {"nvidia.com/mps.capable": mps}


def _slice(name: str, row: Slice | None) -> dict[str, str]:
    if row is None:
        return {}
    found = {f"nvidia.com/{name}.slices.gi": str(row.compute), f"nvidia.com/{name}.slices.ci": str(row.compute)}
    return found if row.processors is None else {**found, f"nvidia.com/{name}.multiprocessors": str(row.processors)}


def _single(gpu: Gpu, slices: Mapping[str, int], config: PluginConfig) -> dict[str, str]:
    if len(slices) != 1:
        invalid = _resource("gpu", f"{gpu.product}-MIG-INVALID", 0, 0, PluginConfig())
        return invalid | {"nvidia.com/gpu.replicas": "0", "nvidia.com/mps.capable": "false"}
    (profile, instances), *_ = slices.items()
    row = gpu.slices.get(profile)
    found = _resource("gpu", f"{gpu.product}-MIG-{profile}", instances, row.mib if row else None, config)
    return found | _slice("gpu", row) | {"nvidia.com/mps.capable": "false"}


def _mixed(gpu: Gpu, slices: Mapping[str, int], config: PluginConfig) -> dict[str, str]:
    found = {"nvidia.com/mps.capable": "false"}
    for profile, instances in slices.items():
        name, row = "mig-" + profile.replace("+", "."), gpu.slices.get(profile)
        product = f"{gpu.product}-MIG-{profile}"
        found |= _resource(name, product, instances, row.mib if row else None, config) | _slice(name, row)
    return found
