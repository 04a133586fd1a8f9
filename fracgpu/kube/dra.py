"""The same pod for NVIDIA's DRA driver: a device is claimed by what it is, not counted under a name.

https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
"""

from __future__ import annotations

from fracgpu.advertise import Explanation
from fracgpu.errors import Finding, Invalid, info
from fracgpu.kube.workload import SHOW, Ask, Manifest, container_of, pod_spec, request
from fracgpu.sharing import Mig, Strategy

API = "resource.k8s.io/v1"
DRIVER = "gpu.nvidia.com"
LINK = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"


def dra(explanation: Explanation, ask: Ask) -> tuple[list[Manifest], tuple[Finding, ...]]:
    """DeviceClass, ResourceClaimTemplate and pod.

    Raises Invalid as `request` does, and `not-expressible` for shares: a claim takes whole devices.
    """
    if explanation.pool.sharing.share is not None:
        message = "a DRA claim takes a whole GPU or slice; the driver shares one among pods that name the same claim"
        raise Invalid.one("not-expressible", message, field="spec.sharing", hint="workload pod asks the device plugin")
    resource, notes = request(explanation, ask)
    profile = _profile(explanation, resource)
    name = ask.named(explanation.pool.name, "dra")
    made = [_device_class(profile), _claim_template(name, profile, ask), _pod(name, explanation, ask)]
    return made, (*notes, _needs_driver())


def _profile(explanation: Explanation, resource: str) -> str | None:
    """The MIG profile behind a resource; None for a whole GPU."""
    profiles = explanation.pool.profiles()
    named = next((name for name, profile in profiles.items() if profile.resource == resource), None)
    cut = explanation.pool.sharing.cut
    by_profile = isinstance(cut, Mig) and cut.strategy is Strategy.MIXED and explanation.facts.named_by_strategy
    return named if by_profile else next(iter(profiles), None)


def _device_class(profile: str | None) -> Manifest:
    kind = "mig" if profile else "gpu"
    attributes = f"device.attributes['{DRIVER}']"
    expression = f"device.driver == '{DRIVER}' && {attributes}.type == '{kind}'"
    if profile:
        expression += f" && {attributes}.profile == '{profile}'"
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": _class_name(profile)},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def _class_name(profile: str | None) -> str:
    return f"fracgpu-mig-{profile.replace('+', '.')}" if profile else "fracgpu-gpu"


def _claim_template(name: str, profile: str | None, ask: Ask) -> Manifest:
    exactly = {"deviceClassName": _class_name(profile), "allocationMode": "ExactCount", "count": ask.gpus}
    return {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": ask.namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def _pod(name: str, explanation: Explanation, ask: Ask) -> Manifest:
    container = {**container_of(ask, SHOW), "resources": {"claims": [{"name": "gpu"}]}}
    spec = pod_spec(explanation, container, restart=False)
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": name}]
    labels = {"app.kubernetes.io/name": name}
    metadata = {"name": name, "namespace": ask.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _needs_driver() -> Finding:
    message = "this needs Kubernetes 1.34 and NVIDIA's DRA driver, with the device plugin kept off the same nodes"
    return info("dra-driver-needed", message, link=LINK)
