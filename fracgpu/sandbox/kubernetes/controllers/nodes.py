"""Pools become nodes: as many as the cloud has made, named and labelled as that cloud does it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.node_body import new_node
from fracgpu.sandbox.kubernetes.life import Batch, Life, Machine, with_conditions
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Cloud, Json, NodeShape, Pool

NOT_READY = "node.kubernetes.io/not-ready"
LEASES = "kube-node-lease"


@dataclass(slots=True)
class PoolNodes:
    """The nodes of one pool; `shape` is what they were made from, `generation` counts the times they were replaced."""

    incarnation: int
    shape: NodeShape
    generation: int = 0
    names: list[str] = field(default_factory=list)


def run(life: Life, batch: Batch) -> None:
    if batch.pools:
        _follow_pools(life)
    _become_ready(life)
    if batch.settings:
        for machine in life.machines.values():
            _override(life, machine)


def _follow_pools(life: Life) -> None:
    shape_of = life.world.shapes.get(life.cluster.cloud)
    pools = life.cluster.pools if shape_of else {}
    for name in [name for name in life.pools if name not in pools]:
        _remove(life, _known(life, name).names)
        del life.pools[name]
    for pool in list(pools.values()):
        assert shape_of is not None
        shape = shape_of(life.cluster, pool)
        known = life.pools.get(pool.name)
        nodes = known if isinstance(known, PoolNodes) else PoolNodes(pool.incarnation, shape)
        life.pools[pool.name] = nodes
        _follow(life, pool, nodes, shape)


def _known(life: Life, name: str) -> PoolNodes:
    nodes = life.pools[name]
    assert isinstance(nodes, PoolNodes)
    return nodes


def _follow(life: Life, pool: Pool, nodes: PoolNodes, shape: NodeShape) -> None:
    if nodes.incarnation != pool.incarnation or _hardware(nodes.shape) != _hardware(shape):
        _remove(life, nodes.names)
        nodes.names = []
        nodes.generation += 1
        nodes.incarnation = pool.incarnation
    elif nodes.shape != shape:
        _relabel(life, nodes, shape)
    nodes.shape = shape
    size = 0 if shape.broken and "join" in shape.broken else pool.size
    _remove(life, nodes.names[size:])
    del nodes.names[size:]
    for index in range(len(nodes.names), size):
        nodes.names.append(_add(life, pool, nodes, index))


def _hardware(shape: NodeShape) -> NodeShape:
    """What cannot change on a running node."""
    return replace(shape, labels={}, taints=[], zones=())


def _remove(life: Life, names: list[str]) -> None:
    for name in names:
        life.machines.pop(name, None)
        if life.store.find(resources.NODES, Key("", name)):
            life.store.delete(resources.NODES, Key("", name))
        if life.store.find(resources.LEASES, Key(LEASES, name)):
            life.store.delete(resources.LEASES, Key(LEASES, name))


def _add(life: Life, pool: Pool, nodes: PoolNodes, index: int) -> str:
    zones = nodes.shape.zones or pool.zones
    zone = zones[index % len(zones)] if zones else ""
    for attempt in range(1000):
        name = _name(life, pool, nodes, index, attempt)
        if name not in life.machines:
            break
    born = life.dirty_at if life.dirty_at is not None else life.now()
    machine = Machine(name, pool.name, index, nodes.shape, born + life.moment)
    life.machines[name] = machine
    life.store.create(resources.NODES, new_node(life, pool, machine, zone))
    life.store.create(resources.LEASES, _lease(name, life.store.stamp()))
    life.wake_at(machine.ready_at)
    _override(life, machine)
    return name


def _lease(node: str, when: str) -> Json:
    """The node's sign of life; it is never renewed, since nothing here waits for it."""
    spec = {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": when[:-1] + ".000000Z"}
    return {"metadata": {"name": node, "namespace": LEASES}, "spec": spec}


def _name(life: Life, pool: Pool, nodes: PoolNodes, index: int, attempt: int) -> str:
    path = life.cluster.path
    seed = "/".join((*path, pool.name, str(nodes.incarnation), str(nodes.generation)))
    group = hashlib.sha256(seed.encode()).hexdigest()
    own = hashlib.sha256(f"{seed}/{index}/{attempt}".encode()).hexdigest()
    match life.cluster.cloud:
        case Cloud.AKS:
            scale_set = f"aks-{pool.name}-{int(group[:8], 16) % 10**8:08d}-vmss"
            return scale_set + _base36(index).rjust(6, "0")
        case Cloud.GKE:
            return f"gke-{life.cluster.name[:20]}-{pool.name[:20]}-{group[:8]}-{own[:4]}"
        case Cloud.EKS:
            domain = "ec2.internal" if path[0] == "us-east-1" else f"{path[0]}.compute.internal"
            return f"ip-192-168-{int(own[:2], 16)}-{int(own[2:4], 16)}.{domain}"


def _base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return text or "0"


def _relabel(life: Life, nodes: PoolNodes, shape: NodeShape) -> None:
    """Labels and taints that changed on the pool change on its nodes; what others put there stays."""
    gone = nodes.shape.labels.keys() - shape.labels.keys()
    old = {(taint["key"], taint["effect"]) for taint in nodes.shape.taints}
    for name in nodes.names:
        life.machines[name].shape = shape
        node = life.store.find(resources.NODES, Key("", name))
        if node is None:
            continue
        metadata, spec = node["metadata"], node["spec"]
        labels = {key: value for key, value in metadata["labels"].items() if key not in gone} | shape.labels
        others = [taint for taint in spec.get("taints", ()) if (taint["key"], taint["effect"]) not in old]
        spec = {**spec, "taints": [*shape.taints, *others]}
        life.store.replace(resources.NODES, {**node, "metadata": {**metadata, "labels": labels}, "spec": spec})


def _become_ready(life: Life) -> None:
    for machine in life.machines.values():
        if not machine.ready and machine.ready_at <= life.now():
            machine.ready = True
            _set_ready(life, machine, True)
            _override(life, machine)


def _set_ready(life: Life, machine: Machine, ready: bool) -> None:
    node = life.store.find(resources.NODES, Key("", machine.node))
    if node is None:
        return
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "reason": "KubeletReady" if ready else "KubeletNotReady",
        "message": "kubelet is posting ready status" if ready else "container runtime is down",
        "lastHeartbeatTime": node["status"]["conditions"][0]["lastHeartbeatTime"],
    }
    taints = [taint for taint in node["spec"].get("taints", ()) if taint["key"] != NOT_READY]
    if not ready:
        taints.append({"key": NOT_READY, "effect": "NoSchedule"})
    spec = {name: value for name, value in node["spec"].items() if name != "taints"}
    when = life.store.stamp()
    status = {**node["status"], "conditions": with_conditions(node["status"]["conditions"], condition, when=when)}
    body = {**node, "spec": {**spec, "taints": taints} if taints else spec, "status": status}
    if life.store.replace(resources.NODES, body) is not node:
        reason = "NodeReady" if ready else "NodeNotReady"
        life.event(node, reason, f"Node {machine.node} status is now: {reason}", by="kubelet")


def _override(life: Life, machine: Machine) -> None:
    """Carry out what `sandbox set node` said of this node."""
    setting: Json = life.world.settings.get("node", {}).get(machine.node) or {}
    node = life.store.find(resources.NODES, Key("", machine.node))
    if not setting or node is None:
        return
    labels = {**node["metadata"]["labels"], **setting.get("labels", {})}
    counts = {name: str(count) for name, count in setting.get("allocatable", {}).items()}
    status = {**node["status"], "allocatable": {**node["status"]["allocatable"], **counts}}
    life.store.replace(resources.NODES, {**node, "metadata": {**node["metadata"], "labels": labels}, "status": status})
    if setting.get("ready") is not None and machine.ready:
        _set_ready(life, machine, setting["ready"])
