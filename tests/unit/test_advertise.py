"""What nodes promise and what a pod must ask for: GPUs x slices x replicas, by the right names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.advertise import (
    GPU_RESOURCE,
    Guard,
    Isolation,
    NodeFacts,
    PluginOwner,
    Slice,
    Unused,
    explain,
    resources,
    taint_json,
    toleration,
)
from fracgpu.catalog import geometry
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Level, info
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.sharing import Mig, Strategy
from fracgpu.spec import NodePool
from fracgpu.taints import Taint, TaintEffect

CATALOG = load()
TAINT = Taint(key="nvidia.com/gpu", value="present", effect=TaintEffect.NO_SCHEDULE)
BY_STRATEGY = NodeFacts({"a": "b"}, (TAINT,), {"a": "b"}, PluginOwner.CLUSTER)
ALL_GPUS = NodeFacts({}, (), {}, PluginOwner.CLOUD, named_by_strategy=False, max_per_container=1, host_ipc=True)
CUT = [m for cloud in ProviderName for m in CATALOG.machines(cloud) if m.mig and not m.fractional and not m.accessory]


def pool(provider: str = "eks", **spec: Any) -> ResolvedPool:
    body = {"spec": {"cluster": {"provider": provider}, **spec}}
    found = resolve(NodePool.model_validate(body), CATALOG, placeholder=True)
    assert found.pool is not None, found.findings
    assert not found.errors, found.errors
    return found.pool


@st.composite
def cut_pools(draw: st.DrawFn) -> ResolvedPool:
    """A pool of a random machine whose GPUs are each cut into a random maximal layout, or left whole."""
    machine: Machine = draw(st.sampled_from(CUT))
    layouts = [layout.counts for layout in geometry.maximal_layouts(CATALOG.gpu(machine.gpu))]
    devices = draw(
        st.lists(st.none() | st.sampled_from(layouts), min_size=machine.gpu_count, max_size=machine.gpu_count).filter(
            any
        )
    )
    sharing: dict[str, Any] = {"mig": {"devices": devices, "strategy": draw(st.sampled_from(["single", "mixed"]))}}
    how = draw(st.sampled_from([None, "timeSlicing", "mps"]))
    if how:
        sharing[how] = {"replicas": draw(st.integers(2, 48))}
        sharing["renameByDefault"] = draw(st.booleans())
    return pool(machine.provider.value, machine=machine.name, gpu=machine.gpu, sharing=sharing)


@given(cut_pools(), st.sampled_from([BY_STRATEGY, ALL_GPUS]))
def test_a_node_shows_gpus_times_slices_times_replicas(pool: ResolvedPool, facts: NodeFacts) -> None:
    cut = pool.sharing.cut
    assert isinstance(cut, Mig)
    by_name = facts.named_by_strategy and cut.strategy is Strategy.MIXED
    devices = sum(cut.counts.values()) + (cut.whole_gpus if by_name else 0)
    found = resources(pool, facts)
    assert sum(found.values()) == devices * pool.sharing.replicas
    assert all(count > 0 for count in found.values())
    assert all(name.endswith(".shared") is pool.sharing.renamed for name in found)


@given(st.sampled_from(CUT), st.integers(2, 64), st.booleans())
def test_a_whole_node_shows_its_gpus_times_replicas(machine: Machine, replicas: int, rename: bool) -> None:
    sharing = {"timeSlicing": {"replicas": replicas}, "renameByDefault": rename}
    shared = pool(machine.provider.value, machine=machine.name, gpu=machine.gpu, sharing=sharing)
    name = GPU_RESOURCE + (".shared" if rename else "")
    assert resources(shared, BY_STRATEGY) == {name: machine.gpu_count * replicas}


@pytest.mark.parametrize(
    ("sharing", "facts", "shown"),
    [
        ({"mig": {"profile": "1g.5gb"}}, BY_STRATEGY, {"nvidia.com/gpu": 56}),
        ({"mig": {"profile": "1g.5gb", "strategy": "mixed"}}, BY_STRATEGY, {"nvidia.com/mig-1g.5gb": 56}),
        ({"mig": {"profile": "1g.5gb", "strategy": "mixed"}}, ALL_GPUS, {"nvidia.com/gpu": 56}),
        ({"mig": {"profile": "1g.5gb+me", "strategy": "mixed"}}, BY_STRATEGY, {"nvidia.com/mig-1g.5gb.me": 8}),
        ({"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}}, BY_STRATEGY, {"nvidia.com/gpu": 112}),
        (
            {"mig": {"profile": "1g.5gb", "strategy": "mixed"}, "mps": {"replicas": 2}, "renameByDefault": True},
            BY_STRATEGY,
            {"nvidia.com/mig-1g.5gb.shared": 112},
        ),
        (
            {"mig": {"devices": [{"3g.20gb": 2}] + [None] * 7}},
            BY_STRATEGY,
            {"nvidia.com/mig-3g.20gb": 2, "nvidia.com/gpu": 7},
        ),
        ({"mps": {"replicas": 10}}, BY_STRATEGY, {"nvidia.com/gpu": 80}),
        ({}, BY_STRATEGY, {"nvidia.com/gpu": 8}),
    ],
)
def test_the_names_are_those_of_the_device_plugin(
    sharing: dict[str, Any], facts: NodeFacts, shown: dict[str, int]
) -> None:
    assert resources(pool(machine="p4d.24xlarge", sharing=sharing), facts) == shown


@pytest.mark.parametrize(
    ("sharing", "isolation"),
    [
        ({}, Isolation(Guard.HARDWARE, Guard.HARDWARE, True)),
        ({"mig": {"profile": "1g.5gb"}}, Isolation(Guard.HARDWARE, Guard.HARDWARE, True)),
        ({"timeSlicing": {"replicas": 2}}, Isolation(Guard.NONE, Guard.NONE, False)),
        ({"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}}, Isolation(Guard.NONE, Guard.NONE, False)),
        ({"mps": {"replicas": 2}}, Isolation(Guard.LIMIT, Guard.LIMIT, False)),
    ],
)
def test_nobody_is_told_of_more_isolation_than_there_is(sharing: dict[str, Any], isolation: Isolation) -> None:
    assert explain(pool(machine="p4d.24xlarge", sharing=sharing), BY_STRATEGY).isolation == isolation


def test_a_slice_has_its_part_of_the_gpu_and_a_share_its_part_of_the_slice() -> None:
    mig = {"profile": "3g.20gb"}
    whole_slice = explain(pool(machine="p4d.24xlarge", sharing={"mig": mig}), BY_STRATEGY).slice
    assert whole_slice.compute_fraction == round(3 / 7, 4)
    shared = explain(pool(machine="p4d.24xlarge", sharing={"mig": mig, "timeSlicing": {"replicas": 4}}), BY_STRATEGY)
    assert whole_slice.memory_gib is not None
    assert shared.slice == Slice(round(whole_slice.memory_gib / 4, 2), round(3 / 28, 4))


def test_a_part_of_a_gpu_is_no_whole_one() -> None:
    machine = next(one for one in CATALOG.machines(ProviderName.EKS) if one.fractional)
    found = explain(pool(machine=machine.name), BY_STRATEGY)
    assert found.slice.compute_fraction == round(machine.gpu_fraction, 4)
    assert found.slice.memory_gib == round(machine.gpu_memory_gib or 0, 2)
    assert found.to_json()["gpuFraction"] == machine.gpu_fraction


def test_what_a_cut_leaves_idle_is_said_with_a_fuller_one() -> None:
    found = explain(pool(machine="p4d.24xlarge", sharing={"mig": {"profile": "2g.10gb"}}), BY_STRATEGY)
    assert found.unused == Unused(1, 2)
    (note,) = [one for one in found.notes if one.code == "compute-wasted"]
    assert note.level is Level.WARNING
    assert (note.hint or "").startswith("2g.10gb=3,1g")
    assert explain(pool(machine="p4d.24xlarge"), BY_STRATEGY).unused == Unused(0, 0)


def test_nothing_fuller_is_named_where_memory_is_what_runs_out() -> None:
    found = explain(pool(machine="p4d.24xlarge", sharing={"mig": {"profile": "3g.20gb"}}), BY_STRATEGY)
    assert found.unused == Unused(1, 0)
    assert [one.hint for one in found.notes if one.code == "compute-wasted"] == [None]


def test_the_memory_of_a_time_share_is_an_agreement() -> None:
    found = explain(pool(machine="p4d.24xlarge", sharing={"timeSlicing": {"replicas": 10}}), BY_STRATEGY)
    (note,) = [one for one in found.notes if one.code == "memory-not-isolated"]
    assert "use 4 GiB" in note.message


def test_the_notes_of_the_pool_and_of_its_cloud_come_along() -> None:
    facts = NodeFacts({}, (), {}, PluginOwner.IMAGE, notes=(info("first-boot-reboots", "m"),))
    codes = [one.code for one in explain(pool(gpu="a100-40gb"), facts).notes]
    assert codes == ["machine-chosen", "gpu-taint-added", "first-boot-reboots"]


def test_the_document_is_what_interface_promises() -> None:
    said = explain(pool(machine="g5.xlarge", sharing={"mps": {"replicas": 4}}), BY_STRATEGY).to_json()
    assert said["perNode"] == {
        "resources": {"nvidia.com/gpu": 4},
        "labels": {"a": "b"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
    }
    assert said["pod"] == {
        "resource": "nvidia.com/gpu",
        "resources": ["nvidia.com/gpu"],
        "maxPerContainer": None,
        "nodeSelector": {"a": "b"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}],
        "hostIPC": False,
    }
    assert (said["gpu"], said["machine"], said["gpusPerNode"], said["slicesPerGpu"], said["sharesPerSlice"]) == (
        "a10g-24gb",
        "g5.xlarge",
        1,
        1,
        4,
    )
    assert said["isolation"] == {"memory": "limit", "compute": "limit", "faults": "shared"}
    assert said["unused"] == {"computeSlices": 0, "memorySlices": 0}
    assert said["plugin"] == "cluster"


@given(st.builds(Taint, key=st.just("k"), value=st.sampled_from(["", "v"]), effect=st.sampled_from(TaintEffect)))
def test_a_toleration_tolerates_its_taint(taint: Taint) -> None:
    found, said = toleration(taint), taint_json(taint)
    assert (found["key"], found["effect"]) == (said["key"], said["effect"])
    assert found["operator"] == ("Equal" if taint.value else "Exists")
    assert found.get("value", "") == taint.value
