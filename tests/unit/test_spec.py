"""The file form: what is read, what is refused, and that what is written is read as the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fracgpu.errors import INVALID_CODES
from fracgpu.manifest import document_of
from fracgpu.sharing import Backend, Strategy
from fracgpu.spec import MARK_KEYS, Capacity, NodePool, NodePoolSpec
from fracgpu.spec_rules import check
from fracgpu.taints import Taint, TaintEffect

TEXTS = st.text(alphabet="abcXYZ019-_./ü", min_size=1, max_size=12)
COUNTS = st.none() | st.integers(-3, 2000)
FLAGS = st.none() | st.booleans()
SOME_TEXT = st.none() | TEXTS
PAIRS = st.none() | st.dictionaries(TEXTS, st.text(max_size=8), max_size=3)
TAINTS = st.builds(
    Taint, key=st.text("abc./-", min_size=1), value=st.text("xyz", max_size=3), effect=st.sampled_from(TaintEffect)
)
LAYOUTS = st.dictionaries(st.sampled_from(["1g.5gb", "2g.10gb", "1g.5gb+me"]), st.integers(1, 7), min_size=1)


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with some of the members, none of which is None."""
    return st.fixed_dictionaries(members).map(
        lambda body: {key: value for key, value in body.items() if value is not None}
    )


MIG = some(
    profile=st.none() | st.just("1g.5gb"),
    layout=st.none() | LAYOUTS,
    devices=st.none() | st.lists(st.none() | LAYOUTS, min_size=1, max_size=3),
    strategy=st.none() | st.sampled_from([one.value for one in Strategy]),
    backend=st.none() | st.sampled_from([one.value for one in Backend]),
)
SPECS = some(
    cluster=some(provider=st.none() | st.sampled_from(["aks", "gke", "eks"]), name=st.none() | st.just("c")),
    gpu=st.none() | st.just("a100-40gb"),
    machine=st.none() | st.just("a2-highgpu-1g"),
    sharing=some(
        mig=st.none() | MIG.filter(bool),
        timeSlicing=st.none() | some(replicas=st.integers(-1, 99), failRequestsGreaterThanOne=FLAGS),
        mps=st.none() | some(replicas=st.integers(-1, 99)),
        renameByDefault=FLAGS,
        configKey=st.none() | st.just("team-a"),
    ),
    nodes=some(count=COUNTS, min=COUNTS, max=COUNTS),
    capacity=st.none() | st.sampled_from([one.value for one in Capacity]),
    disk=some(sizeGb=COUNTS),
    labels=PAIRS,
    taints=st.none() | st.lists(TAINTS, max_size=3).map(lambda taints: [str(taint) for taint in taints]),
    tags=PAIRS,
    gpuTaint=FLAGS,
    aks=st.none() | some(osSku=st.none() | st.just("Ubuntu"), spotMaxPrice=st.none() | st.floats(0, 10)),
    gke=st.none() | some(networkTags=st.none() | st.lists(st.just("t"), min_size=1), autoUpgrade=FLAGS),
    eks=st.none() | some(updateConfig=st.none() | some(maxUnavailable=COUNTS)),
)
NODE_POOLS = some(metadata=some(name=st.none() | st.just("pool")), spec=SPECS)


@given(NODE_POOLS)
def test_a_pool_that_is_written_is_read_as_the_same_pool(body: dict[str, Any]) -> None:
    pool = NodePool.model_validate(body)
    written = document_of(pool)
    again = NodePool.model_validate({"spec": {}, **written})
    assert document_of(again) == written
    assert again.spec.sharing == pool.spec.sharing
    assert again.spec.nodes == pool.spec.nodes
    assert (again.spec.taints or []) == (pool.spec.taints or [])


@given(SPECS)
def test_every_finding_of_a_spec_has_a_code_and_the_field_it_is_about(body: dict[str, Any]) -> None:
    for finding in check(NodePoolSpec.model_validate(body)):
        assert finding.code in INVALID_CODES
        assert (finding.field or "").startswith("spec.")


def read(**spec: Any) -> NodePoolSpec:
    return NodePoolSpec.model_validate(spec)


def codes(**spec: Any) -> list[tuple[str, str | None]]:
    return [(finding.code, finding.field) for finding in check(read(**spec))]


@pytest.mark.parametrize(
    ("written", "taint"),
    [
        ("nvidia.com/gpu=present:NoSchedule", ("nvidia.com/gpu", "present", "NoSchedule")),
        ("dedicated:NoExecute", ("dedicated", "", "NoExecute")),
        ("dedicated=:PreferNoSchedule", ("dedicated", "", "PreferNoSchedule")),
        ("a=b:NO_SCHEDULE", ("a", "b", "NoSchedule")),
        ("a=b:prefernoschedule", ("a", "b", "PreferNoSchedule")),
        ({"key": "a", "effect": "NoSchedule"}, ("a", "", "NoSchedule")),
    ],
)
def test_taints_are_read_as_kubectl_writes_them_and_as_mappings(written: Any, taint: tuple[str, str, str]) -> None:
    spec = read(taints=[written])
    assert spec.taints is not None
    assert (spec.taints[0].key, spec.taints[0].value, spec.taints[0].effect) == taint


@pytest.mark.parametrize("text", ["", "a=b", "a=b:Never", "=b:NoSchedule", "a=b=c:NoSchedule", "a b:NoSchedule"])
def test_what_is_no_taint_is_refused_by_its_own_code(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(taints=[text])
    assert caught.value.errors()[0]["type"] == "invalid-taint"


@pytest.mark.parametrize(
    ("word", "cloud"),
    [("AKS", "aks"), ("azure", "aks"), ("GCP", "gke"), ("google", "gke"), (" aws ", "eks"), ("Amazon", "eks")],
)
def test_a_cloud_is_known_by_its_company_too(word: str, cloud: str) -> None:
    assert read(cluster={"provider": word}).cluster.provider == cloud


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ({"sharing": {"timeSlicing": {"replicas": 2}, "mps": {"replicas": 2}}}, "sharing-conflict", "spec.sharing.mps"),
        (
            {"sharing": {"timeSlicing": {"replicas": 1}}},
            "replicas-out-of-range",
            "spec.sharing.timeSlicing.replicas",
        ),
        ({"sharing": {"mps": {"replicas": 0}}}, "replicas-out-of-range", "spec.sharing.mps.replicas"),
        ({"sharing": {"renameByDefault": True}}, "conflicting-fields", "spec.sharing.renameByDefault"),
        ({"sharing": {"mig": {}}}, "missing-field", "spec.sharing.mig"),
        (
            {"sharing": {"mig": {"profile": "1g.5gb", "layout": {"1g.5gb": 1}}}},
            "conflicting-fields",
            "spec.sharing.mig.layout",
        ),
        ({"sharing": {"mig": {"layout": {}}}}, "invalid-value", "spec.sharing.mig.layout"),
        ({"sharing": {"mig": {"layout": {"1g.5gb": 0}}}}, "invalid-value", "spec.sharing.mig.layout.1g.5gb"),
        (
            {"sharing": {"mig": {"devices": [None, {"1g.5gb": -1}]}}},
            "invalid-value",
            "spec.sharing.mig.devices[1].1g.5gb",
        ),
        ({"nodes": {"count": -1}}, "nodes-out-of-range", "spec.nodes.count"),
        ({"nodes": {"min": 1}}, "missing-field", "spec.nodes.max"),
        ({"nodes": {"min": 5, "max": 2}}, "nodes-out-of-range", "spec.nodes.min"),
        ({"nodes": {"count": 9, "min": 1, "max": 2}}, "nodes-out-of-range", "spec.nodes.count"),
        ({"nodes": {"min": 0, "max": 0}}, "nodes-out-of-range", "spec.nodes.max"),
        (
            {"sharing": {"mig": {"profile": "1g.5gb", "backend": "bottlerocket"}}, "eks": {"backend": "user-data"}},
            "conflicting-fields",
            "spec.sharing.mig.backend",
        ),
    ],
)
def test_what_cannot_be_is_found_where_it_stands(spec: dict[str, Any], code: str, field: str) -> None:
    assert codes(**spec) == [(code, field)]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"nodes": {"count": 0}},
        {"nodes": {"max": 4}},
        {"nodes": {"count": 2, "min": 2, "max": 2}},
        {"sharing": {"timeSlicing": {"replicas": 2}, "renameByDefault": True}},
        {"sharing": {"mig": {"profile": "1g.5gb", "backend": "user-data"}}, "eks": {"backend": "user-data"}},
    ],
)
def test_what_can_be_has_no_findings(spec: dict[str, Any]) -> None:
    assert codes(**spec) == []


@pytest.mark.parametrize("key", MARK_KEYS)
def test_the_mark_of_ownership_is_not_for_users_to_write(key: str) -> None:
    assert codes(tags={key: "true"}) == [("invalid-tag", f"spec.tags.{key}")]


def test_all_findings_come_at_once() -> None:
    spec = {"sharing": {"mig": {}, "mps": {"replicas": 1}}, "nodes": {"min": 3}, "gke": {"acceleratorCount": 0}}
    assert len(codes(**spec)) == 4


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"nodes": {"count": "2"}}, "int_type"),
        ({"nodes": {"count": 2.0}}, "int_type"),
        ({"gpuTaint": "no"}, "bool_type"),
        ({"labels": {"a": 1}}, "string_type"),
        ({"zones": [1]}, "string_type"),
        ({"gpu": "  "}, "invalid-value"),
        ({"capacity": "cheap"}, "enum"),
        ({"nodess": {}}, "extra_forbidden"),
    ],
)
def test_nothing_is_guessed_from_a_value_of_another_type(spec: dict[str, Any], kind: str) -> None:
    with pytest.raises(ValidationError) as caught:
        NodePoolSpec.model_validate(spec)
    assert caught.value.errors()[0]["type"] == kind


def test_the_schema_takes_what_the_models_take() -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(NodePool.model_json_schema(by_alias=True))
    good = {
        "apiVersion": "fracgpu/v1",
        "kind": "NodePool",
        "metadata": {"name": "a"},
        "spec": {
            "cluster": {"provider": "gke"},
            "taints": ["a=b:NoSchedule", {"key": "c", "effect": "NoExecute"}],
            "sharing": {"mig": {"devices": [{"1g.5gb": 7}, None]}},
        },
    }
    assert not list(validator.iter_errors(good))
    assert list(validator.iter_errors({**good, "spec": {"taint": []}}))
