"""Pods that land: valid Kubernetes, the right resource and count, and never more than can be had."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from fracgpu.advertise import Explanation, explain
from fracgpu.errors import Invalid
from fracgpu.kube.dra import dra
from fracgpu.kube.workload import Ask, Kind, manifest

LAYOUT = {"3g.20gb": 1, "1g.5gb": 2}
VERSIONS = ("1.32", kubernetes_validate.latest_version())
"""The oldest that a cloud still runs, and the newest."""
POOLS: dict[str, dict[str, Any]] = {
    "gke-mig": {"provider": "gke", "gpu": "a100-40gb", "mig": {"profile": "1g.5gb"}, "capacity": "spot"},
    "gke-mps": {"provider": "gke", "machine": "g2-standard-4", "mps": {"replicas": 4}},
    "gke-shared": {"provider": "gke", "gpu": "t4", "timeSlicing": {"replicas": 10}},
    "aks-mixed": {"provider": "aks", "gpu": "a100-40gb", "mig": {"profile": "1g.5gb", "strategy": "mixed"}},
    "aks-shared": {"provider": "aks", "gpu": "t4", "timeSlicing": {"replicas": 10}, "capacity": "spot"},
    "aks-renamed": {"provider": "aks", "gpu": "t4", "timeSlicing": {"replicas": 4}, "renameByDefault": True},
    "eks-layout": {"provider": "eks", "gpu": "a100-40gb", "mig": {"layout": LAYOUT}},
    "eks-whole": {"provider": "eks", "gpu": "t4", "taints": ["team=vision:NoExecute"]},
}


@pytest.fixture
def pool(promised: Any, request: pytest.FixtureRequest) -> Explanation:
    spec = dict(POOLS[request.param])
    promise = promised(spec.pop("provider"), **spec)
    return explain(promise.pool, promise.facts)


def spec_of(made: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = made["spec"]
    return spec if made["kind"] == "Pod" else spec["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("pool", POOLS, indirect=True)
def test_kubernetes_takes_it(pool: Explanation, kind: Kind, version: str) -> None:
    made, _ = manifest(kind, pool, Ask())
    kubernetes_validate.validate(made, version, strict=True)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("pool", POOLS, indirect=True)
def test_it_asks_for_what_nodes_offer_selects_them_and_tolerates_their_taints(pool: Explanation, kind: Kind) -> None:
    spec = spec_of(manifest(kind, pool, Ask())[0])
    assert spec["containers"][0]["resources"] == {"limits": {pool.pod_resources[0]: "1"}}
    assert spec["nodeSelector"] == dict(pool.facts.selector)
    assert spec["nodeSelector"].items() <= pool.facts.labels.items()
    tolerated = {(one["key"], one.get("value", ""), one["effect"]) for one in spec["tolerations"]}
    assert tolerated == {(one.key, one.value, one.effect.value) for one in pool.facts.taints}
    assert spec.get("hostIPC", False) == pool.facts.host_ipc


@pytest.mark.parametrize("pool", POOLS, indirect=True)
def test_the_most_that_can_be_had_is_accepted_and_one_more_refused(pool: Explanation) -> None:
    offered = pool.resources[pool.pod_resources[0]]
    most = min(offered, pool.facts.max_per_container or offered)
    manifest(Kind.POD, pool, Ask(gpus=most))
    with pytest.raises(Invalid) as caught:
        manifest(Kind.POD, pool, Ask(gpus=most + 1))
    assert caught.value.code == "request-exceeds-share"
    assert caught.value.nearest == (str(most),)


@pytest.mark.parametrize("pool", ["gke-mps"], indirect=True)
def test_mps_on_gke_needs_the_hosts_ipc(pool: Explanation) -> None:
    assert spec_of(manifest(Kind.DEPLOYMENT, pool, Ask())[0])["hostIPC"] is True


@pytest.mark.parametrize("pool", ["eks-layout"], indirect=True)
def test_a_layout_has_several_resources_to_choose_from(pool: Explanation) -> None:
    made, _ = manifest(Kind.POD, pool, Ask(gpus=2, resource="nvidia.com/mig-1g.5gb"))
    assert spec_of(made)["containers"][0]["resources"] == {"limits": {"nvidia.com/mig-1g.5gb": "2"}}


@pytest.mark.parametrize("pool", ["eks-layout"], indirect=True)
def test_a_resource_that_the_pool_does_not_have_is_refused(pool: Explanation) -> None:
    with pytest.raises(Invalid) as caught:
        manifest(Kind.POD, pool, Ask(resource="nvidia.com/gpu"))
    assert caught.value.code == "invalid-value"
    assert caught.value.nearest == pool.pod_resources


@pytest.mark.parametrize("pool", ["aks-shared"], indirect=True)
def test_several_shares_of_a_turn_are_warned_of(pool: Explanation) -> None:
    _, notes = manifest(Kind.POD, pool, Ask(gpus=3))
    assert [note.code for note in notes] == ["shares-buy-nothing", "memory-not-isolated"]
    assert [note.code for note in manifest(Kind.POD, pool, Ask())[1]] == ["memory-not-isolated"]


@pytest.mark.parametrize("pool", ["gke-mig"], indirect=True)
def test_an_image_of_ones_own_keeps_its_command(pool: Explanation) -> None:
    made, _ = manifest(Kind.JOB, pool, Ask(image="vision:7", name="train", namespace="team"))
    assert spec_of(made)["containers"][0].get("command") is None
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == ("train", "team")


@pytest.mark.parametrize("gpus", [0, -1])
@pytest.mark.parametrize("pool", ["gke-mig"], indirect=True)
def test_nothing_is_no_request(pool: Explanation, gpus: int) -> None:
    with pytest.raises(Invalid) as caught:
        manifest(Kind.POD, pool, Ask(gpus=gpus))
    assert caught.value.code == "invalid-value"


@pytest.mark.parametrize("version", ["1.34", kubernetes_validate.latest_version()])
@pytest.mark.parametrize("pool", ["gke-mig", "aks-mixed", "eks-layout", "eks-whole"], indirect=True)
def test_dra_claims_are_valid_and_hang_together(pool: Explanation, version: str) -> None:
    made, _ = dra(pool, Ask())
    for one in made:
        kubernetes_validate.validate(one, version, strict=True)
    device_class, template, pod = made
    asked = template["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert asked["deviceClassName"] == device_class["metadata"]["name"]
    assert pod["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] == template["metadata"]["name"]
    assert pod["spec"]["containers"][0]["resources"] == {"claims": [{"name": "gpu"}]}


@pytest.mark.parametrize(
    ("pool", "profile"), [("gke-mig", "1g.5gb"), ("eks-layout", "3g.20gb"), ("eks-whole", None)], indirect=["pool"]
)
def test_dra_picks_the_device_by_what_it_is(pool: Explanation, profile: str | None) -> None:
    expression = dra(pool, Ask())[0][0]["spec"]["selectors"][0]["cel"]["expression"]
    assert f".type == '{'mig' if profile else 'gpu'}'" in expression
    assert (f".profile == '{profile}'" in expression) == bool(profile)


@pytest.mark.parametrize("pool", ["gke-shared", "gke-mps"], indirect=True)
def test_shares_cannot_be_claimed(pool: Explanation) -> None:
    with pytest.raises(Invalid) as caught:
        dra(pool, Ask())
    assert caught.value.code == "not-expressible"


@pytest.mark.parametrize("ask", [Ask(name="Bad Name"), Ask(name=""), Ask(namespace="Bad_NS"), Ask(namespace="")])
@pytest.mark.parametrize("pool", ["eks-whole"], indirect=True)
def test_a_name_that_kubernetes_refuses_is_refused_here(pool: Explanation, ask: Ask) -> None:
    for made in (lambda: manifest(Kind.POD, pool, ask), lambda: dra(pool, ask)):
        with pytest.raises(Invalid) as caught:
            made()
        assert caught.value.code == "invalid-name"


@pytest.mark.parametrize("kind", Kind)
def test_a_pool_may_have_a_name_that_no_pod_can_have(promised: Any, kind: Kind) -> None:
    promise = promised("eks", gpu="t4", name="Team_A_" + "x" * 56)
    made, _ = manifest(kind, explain(promise.pool, promise.facts), Ask())
    kubernetes_validate.validate(made, VERSIONS[-1], strict=True)
    assert made["metadata"]["name"].startswith("team-a-x")
    assert len(made["metadata"]["name"]) <= 63


@pytest.mark.parametrize("pool", ["eks-whole"], indirect=True)
@pytest.mark.parametrize(
    ("image", "taken"),
    [
        ("nvidia/cuda:12.9.1-base-ubuntu24.04", True),
        ("registry.example.com:5000/team/app@sha256:" + "0" * 64, True),
        ("public.ecr.aws/x/Y_z:latest", True),
        ("", False),
        ("two words", False),
        ("a\nb: c", False),
        ("-x", False),
        ("x:y@sha256:1", False),
    ],
)
def test_what_is_no_image_is_refused(pool: Explanation, image: str, taken: bool) -> None:
    if taken:
        assert spec_of(manifest(Kind.POD, pool, Ask(image=image))[0])["containers"][0]["image"] == image
        return
    with pytest.raises(Invalid) as caught:
        manifest(Kind.POD, pool, Ask(image=image))
    assert caught.value.field == "--image"
