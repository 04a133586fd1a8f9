"""Laws for any pool: what is exported plans to nothing, what is applied plans to nothing, and the sandbox takes it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fracgpu.catalog.geometry import maximal_layouts
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Level
from fracgpu.plan import Action, Json, change_of, linked
from fracgpu.providers import Observed, eks
from fracgpu.providers.eks import user_data
from fracgpu.providers.eks.steps import config_request, tag_step, version_request
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.sandbox.eks import checks, userdata
from fracgpu.sandbox.eks.bottlerocket import parse
from tests.eks_pools import FACTS, SUBNETS, resolution, shown

MACHINES = load().machines(ProviderName.EKS)
WORDS = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
BACKENDS = ("device-plugin", "bottlerocket", "user-data", "gpu-operator")


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@st.composite
def shares(draw: st.DrawFn) -> Json:
    kind = draw(st.sampled_from(["timeSlicing", "mps", None]))
    if kind is None:
        return {}
    one = {"failRequestsGreaterThanOne": True} if kind == "timeSlicing" and draw(st.booleans()) else {}
    renamed = {"renameByDefault": True} if draw(st.booleans()) else {}
    return {kind: {"replicas": draw(st.integers(2, 16)), **one}, **renamed}


@st.composite
def cuts(draw: st.DrawFn, machine: Machine) -> Json:
    if not machine.mig or draw(st.booleans()):
        return {}
    gpu = load().gpu(machine.gpu)
    strategy = draw(st.sampled_from(["single", "mixed"]))
    how = draw(st.sampled_from(["profile", "layout", "devices"]))
    if how == "profile":
        return {"mig": {"profile": draw(st.sampled_from([one.name for one in gpu.profiles])), "strategy": strategy}}
    layouts = st.sampled_from([one.counts for one in maximal_layouts(gpu)])
    if how == "layout":
        return {"mig": {"layout": draw(layouts), "strategy": strategy}}
    devices = draw(st.lists(optional(layouts), min_size=machine.gpu_count, max_size=machine.gpu_count))
    return {"mig": {"devices": devices, "strategy": "mixed"}}


@st.composite
def nodes(draw: st.DrawFn) -> Json:
    if draw(st.booleans()):
        return {"count": draw(st.integers(0, 9))}
    low = draw(st.integers(0, 5))
    high = draw(st.integers(low + 1, 20))
    first = draw(optional(st.integers(low, high)))
    return {"min": low, "max": high} if first is None else {"min": low, "max": high, "count": first}


@st.composite
def options(draw: st.DrawFn) -> Json:
    said = {
        "backend": draw(optional(st.sampled_from(BACKENDS))),
        "subnets": draw(optional(st.just([SUBNETS[1]]))),
        "updateConfig": draw(optional(st.sampled_from([{"maxUnavailable": 1}, {"maxUnavailablePercentage": 50}]))),
        "nodeRepairConfig": draw(optional(st.sampled_from([{"enabled": True}, {"enabled": False}]))),
        "diskType": draw(optional(st.just("gp2"))),
        "startupTaint": draw(optional(st.booleans())),
        "autoscalerTags": draw(optional(st.booleans())),
        "launchTemplate": draw(optional(st.just({"name": "mine", "version": "2"}))),
        "reservation": draw(optional(st.just("cr-0123456789abcdef0"))),
    }
    return {key: value for key, value in said.items() if value is not None}


@st.composite
def specs(draw: st.DrawFn) -> Json:
    machine = draw(st.sampled_from(MACHINES))
    keyed = st.dictionaries(WORDS, WORDS, max_size=3)
    taints = st.lists(WORDS, unique=True, max_size=3).map(lambda keys: [f"{key}=v:NoExecute" for key in keys])
    return {
        "machine": machine.name,
        "sharing": {**draw(cuts(machine)), **draw(shares())},
        "nodes": draw(nodes()),
        "capacity": draw(st.sampled_from(["on-demand", "spot", "reserved"])),
        "disk": {"sizeGb": draw(st.integers(20, 500))} if draw(st.booleans()) else {},
        "labels": draw(keyed),
        "tags": draw(keyed),
        "taints": draw(taints),
        "gpuTaint": draw(st.booleans()),
        "eks": draw(options()),
    }


def accepted(spec: Json) -> ResolvedPool | None:
    """The pool of a spec that no rule refuses."""
    found = resolution(**spec)
    if found.pool is None or found.errors:
        return None
    errors = [one for one in eks.rules(found.pool, FACTS) if one.level is Level.ERROR]
    return None if errors else found.pool


pools = specs().map(accepted).filter(lambda pool: pool is not None)
often = settings(derandomize=True, deadline=None, max_examples=150)


def actions(pool: ResolvedPool, there: Observed) -> list[tuple[Action, str | None]]:
    observed = {(one.kind, one.name): eks.settled(one) for one in there.resources}
    wanted = eks.desired(pool, FACTS)
    changes = [change_of(one, observed.get((one.kind, one.name)), eks.comparison(one.kind)) for one in wanted]
    return [(one.action, one.reason) for one in linked(changes, eks.comparison)]


@often
@given(pools)
def test_applied_and_planned_again_nothing_changes(pool: ResolvedPool) -> None:
    assert {action for action, _ in actions(pool, shown(eks.desired(pool, FACTS)))} == {Action.NO_OP}


@often
@given(pools)
def test_exported_and_planned_again_nothing_changes(pool: ResolvedPool) -> None:
    there = shown(eks.desired(pool, FACTS))
    written, _ = eks.read(there)
    again = resolve(written, load())
    assert again.pool is not None
    assert again.errors == ()
    assert [one for one in eks.rules(again.pool, FACTS) if one.level is Level.ERROR] == []
    assert {action for action, _ in actions(again.pool, there)} == {Action.NO_OP}


@often
@given(pools)
def test_what_is_read_back_shares_alike(pool: ResolvedPool) -> None:
    written, _ = eks.read(shown(eks.desired(pool, FACTS)))
    again = resolve(written, load()).pool
    assert again is not None
    assert (again.sharing, again.nodes, again.backend) == (pool.sharing, _as_eks_has(pool), pool.backend)


def _as_eks_has(pool: ResolvedPool) -> Any:
    """A group of no nodes has a maximum of one, so it reads as one that may grow."""
    nodes = pool.nodes
    return type(nodes)(0, 0, 1) if nodes.max == 0 else nodes


@often
@given(pools)
def test_what_the_rules_accept_eks_takes(pool: ResolvedPool) -> None:
    """The sandbox's own checks, written from the same public facts by other hands, find nothing."""
    *templates, group = eks.desired(pool, FACTS)
    checks.created(group.body)
    checks.scaling(group.body["scalingConfig"])
    checks.update_config(group.body.get("updateConfig", {}), group.body["scalingConfig"]["maxSize"])
    for text in (text for one in templates for text in one.decoded.values()):
        assert len(text.encode()) <= user_data.LIMIT
        parse(text) if group.body["amiType"].startswith("BOTTLEROCKET") else userdata.scripts(text)


@often
@given(pools, pools)
def test_an_update_asks_for_exactly_what_differs(one: ResolvedPool, other: ResolvedPool) -> None:
    """The calls, carried out on the body as EKS has it, leave nothing to do."""
    there = shown(eks.desired(one, FACTS))
    after = eks.desired(other, FACTS)[-1].body
    current = eks.settled(there.resources[-1]).body
    request = config_request(current, after, size=True)
    labels = {**current.get("labels", {}), **request.get("labels", {}).get("addOrUpdateLabels", {})}
    left = {key: value for key, value in labels.items() if key not in request.get("labels", {}).get("removeLabels", [])}
    assert left == after.get("labels", {})
    assert {**current["scalingConfig"], **request.get("scalingConfig", {})} == after["scalingConfig"]
    step = tag_step(there.body, after)
    tags = {key: value for key, value in {**there.body["tags"], **step.write}.items() if key not in step.remove}
    assert tags == after["tags"]
    assert not config_request(eks.settled(there.resources[-1]).body, eks.desired(one, FACTS)[-1].body, size=True)
    assert not version_request(there.body, eks.desired(one, FACTS)[-1].body, 3)
