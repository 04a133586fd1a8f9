"""Write the device plugin's ConfigMap into a cluster: what is there is looked at first, and never taken from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fracgpu import pluginkey
from fracgpu.differences import Comparison
from fracgpu.errors import Finding, Forbidden, Invalid, NotFound, NotOurs, info, warning
from fracgpu.kube.installed import Part, config_keys, plugins
from fracgpu.kube.merge import changed, merged, owner, settled
from fracgpu.kube.plugin import NAME, NAMESPACE, Configs, config_map, gather
from fracgpu.kube.promise import Promise
from fracgpu.operations.kube import open_kube
from fracgpu.plan import Action, Change, Json, Plan, Resource, change_of
from fracgpu.providers import Session
from fracgpu.resolve import ClusterRef

if TYPE_CHECKING:
    from fracgpu.kube.session import Kube

KIND = "k8s.configMap"


@dataclass(frozen=True, slots=True)
class ConfigPlan:
    """What would be applied; `in_use` are keys that change their meaning under nodes that are labelled with them."""

    plan: Plan
    manifest: Json | None
    in_use: tuple[str, ...] = ()
    problem: NotOurs | NotFound | None = None
    """Why the cluster would not take it: a key that another tool wrote, a namespace that is missing."""

    @property
    def pending(self) -> bool:
        return self.plan.pending


def plan_config(
    session: Session, cluster: ClusterRef, promises: Sequence[Promise], namespace: str | None = None
) -> ConfigPlan:
    """What the cluster's ConfigMap lacks for these pools. Reads only. Without a namespace it is that of the plugin.

    Raises Invalid as `gather` does, and NotOurs where a ConfigMap of that name belongs to somebody else.
    """
    if not any(one.own_plugin for one in promises):
        return ConfigPlan(Plan((), gather(promises).notes), None)
    with open_kube(session) as kube:
        running = _running(kube)
        configs = _gathered(promises, kube, running)
        if not configs.documents:
            return ConfigPlan(Plan((), configs.notes), None)
        namespace = namespace or config_namespace(running)
        there = kube.config_map(namespace, NAME)
        if there is not None and (whose := owner(there)) is not None:
            raise _not_ours(namespace, whose)
        manifest = {**config_map(configs, namespace), "data": merged(there, configs.data())}
        in_use = tuple(key for key in changed(there, manifest["data"]) if kube.nodes({pluginkey.LABEL: key}))
        change = _change(cluster, manifest, there)
        problem = _refusal(kube, manifest) if change.action is not Action.NO_OP else None
    notes = (*configs.notes, *_restart(change, in_use, running), *unread(namespace, running))
    return ConfigPlan(Plan((change,), notes), manifest, in_use, problem)


def _running(kube: Kube) -> list[Part]:
    """The cluster's device plugins; none where nobody may look."""
    try:
        return plugins(kube.daemon_sets())
    except Forbidden:
        return []


def config_namespace(running: Sequence[Part]) -> str:
    """Where a plugin reads our ConfigMap, else where one runs, NVIDIA's own place first."""
    reading = [part.namespace for part in running if NAME in part.config_maps]
    places = [*reading, *(part.namespace for part in running)]
    return NAMESPACE if NAMESPACE in (reading or places) or not places else places[0]


def _gathered(promises: Sequence[Promise], kube: Kube, running: Sequence[Part]) -> Configs:
    """The configs of these pools. A key that nothing here explains is no error where the cluster has it already."""
    try:
        return gather(promises)
    except Invalid as error:
        if any(one.code != "plugin-key-missing" for one in error.findings):
            raise
        maps = kube.config_maps(part.namespace for part in running)
        return gather(promises, config_keys(running, maps))


def _refusal(kube: Kube, manifest: Json) -> NotOurs | NotFound | None:
    """What the cluster would answer. Who may only look is told what would change."""
    try:
        kube.apply_config_map(manifest, dry_run=True)
    except NotOurs as error:
        return error
    except NotFound as error:
        return _no_namespace(manifest["metadata"]["namespace"], error)
    except Forbidden:
        pass
    return None


def _no_namespace(namespace: str, error: NotFound) -> NotFound:
    hint = f"kubectl create namespace {namespace}, or --namespace where the plugin runs"
    return NotFound(f"the cluster has no namespace {namespace}", hint=hint, detail=error.detail)


def apply_config(session: Session, planned: ConfigPlan) -> None:
    """Apply a plan server-side. Raises NotOurs where another tool owns what would change, NotFound where the namespace
    is missing."""
    if planned.manifest is None or not planned.pending:
        return
    if planned.problem:
        raise planned.problem
    try:
        with open_kube(session) as kube:
            kube.apply_config_map(planned.manifest)
    except NotFound as error:
        raise _no_namespace(planned.manifest["metadata"]["namespace"], error) from error


def _change(cluster: ClusterRef, manifest: Json, there: Json | None) -> Change:
    desired = Resource(KIND, NAME, "", cluster, manifest)
    observed = Resource(KIND, NAME, "", cluster, settled(there)) if there is not None else None
    return change_of(desired, observed, Comparison())


def _not_ours(namespace: str, whose: str) -> NotOurs:
    message = f"the ConfigMap {namespace}/{NAME} belongs to {whose}"
    hint = "put the keys of `fracgpu plugin config` there, or choose another --namespace"
    if whose == "Helm":
        hint = "a chart made it: helm upgrade with what `fracgpu plugin values` gives"
    return NotOurs(message, hint=hint)


def _restart(change: Change, in_use: Sequence[str], running: Sequence[Part]) -> tuple[Finding, ...]:
    """https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html"""
    if change.action is not Action.UPDATE or not in_use:
        return ()
    message = f"nodes labelled {', '.join(in_use)} keep the old config until their plugin pods start anew"
    commands = [f"kubectl rollout restart -n {part.namespace} daemonset/{part.name}" for part in running]
    hint = "; ".join(commands) or "kubectl rollout restart of the device plugin's DaemonSet"
    return (info("plugin-restart-needed", message, hint=hint),)


def unread(namespace: str, running: Sequence[Part]) -> tuple[Finding, ...]:
    """Pods mount ConfigMaps of their own namespace alone, and those alone that they were told of."""
    here = [part for part in running if part.namespace == namespace]
    if running and not here:
        message = f"the device plugin {running[0]} cannot read a ConfigMap of the namespace {namespace}"
        return (warning("plugin-elsewhere", message, hint=f"fracgpu plugin apply --namespace {running[0].namespace}"),)
    told = [part for part in here if part.config_maps]
    if not told or any(NAME in part.config_maps for part in told):
        return ()
    message = f"the device plugin {told[0]} reads {', '.join(sorted(told[0].config_maps))}, and not {NAME}"
    hint = "fracgpu plugin values has what tells its chart the name"
    return (warning("plugin-elsewhere", message, hint=hint),)
