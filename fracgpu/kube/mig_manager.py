"""NVIDIA's MIG manager: which pools it cuts, what it is told, and what it would undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fracgpu import migconfig
from fracgpu.kube.names import checked
from fracgpu.kube.plugin import MANAGED_BY, MANAGER
from fracgpu.kube.promise import Promise
from fracgpu.sharing import Backend, Mig

MIG_CONFIG_NAME = "fracgpu-mig-parted"
MIG_CONFIG_KEY = "config.yaml"
"""The key that mig-manager reads (https://github.com/NVIDIA/gpu-operator, values.yaml, migManager.config)."""


def mig_document(promises: Iterable[Promise]) -> dict[str, Any] | None:
    """mig-parted's file for the pools that NVIDIA's MIG manager cuts; None where it cuts none."""
    cuts = [(one.pool.gpu, one.pool.sharing.cut) for one in promises if cut_by_manager(one)]
    found = [(gpu, cut) for gpu, cut in cuts if isinstance(cut, Mig)]
    return migconfig.config_document(found) if found else None


def mig_config_map(document: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """mig-parted's file as the ConfigMap that `migManager.config.name` names. Raises Invalid for the namespace."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": MIG_CONFIG_NAME,
            "namespace": checked(namespace, "--namespace"),
            "labels": {MANAGED_BY: MANAGER},
        },
        "data": {MIG_CONFIG_KEY: _yaml(document)},
    }


def mig_manager(promises: Sequence[Promise]) -> dict[str, Any]:
    """On where it cuts a pool. Elsewhere off: it sets nodes without `nvidia.com/mig.config` to all-disabled, and so
    would undo what the cloud or the boot script has cut."""
    cut = [one for one in promises if cut_by_manager(one)]
    if not cut:
        return {"enabled": False}
    made: dict[str, Any] = {"enabled": True}
    if any(one.pool.gpu.reboots_for_mig for one in cut):
        # https://github.com/NVIDIA/gpu-operator/issues/1606
        made["env"] = [{"name": "WITH_REBOOT", "value": "true"}]
    document = mig_document(cut)
    if document and any(map(migconfig.is_custom, document["mig-configs"])):
        data = {MIG_CONFIG_KEY: _yaml(document)}
        made["config"] = {"name": MIG_CONFIG_NAME, "create": True, "default": migconfig.DISABLED, "data": data}
    return made


def cut_by_manager(promise: Promise) -> bool:
    return promise.pool.backend is Backend.GPU_OPERATOR and isinstance(promise.pool.sharing.cut, Mig)


def cut_by_others(promise: Promise) -> bool:
    return promise.own_plugin and isinstance(promise.pool.sharing.cut, Mig) and not cut_by_manager(promise)


def _yaml(document: Mapping[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(dict(document), sort_keys=False))
