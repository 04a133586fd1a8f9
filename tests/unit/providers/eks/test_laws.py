"""Laws for any pool: what is exported plans to nothing, what is applied plans to nothing, and the sandbox takes it."""

from __future__ import annotations

import functools
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fracgpu.catalog.geometry import maximal_layouts
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Level
from fracgpu.migconfig import LABEL
from fracgpu.plan import Action, Json, change_of, linked
from fracgpu.providers import Observed, eks
from fracgpu.providers.eks import user_data
from fracgpu.providers.eks.facts import labels
from fracgpu.providers.eks.matrix import Combination, Cutting, Shared, combination_of, combinations, verdict
from fracgpu.providers.eks.steps import config_request, tag_step, version_request
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.sandbox.eks import checks, userdata
from fracgpu.sandbox.eks.bottlerocket import parse
from fracgpu.sharing import Backend
from tests.eks_pools import FACTS, SUBNETS, resolution, shown

MACHINES = load().machines(ProviderName.EKS)
WORDS = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@functools.cache
def rows(machine: Machine) -> list[Combination]:
    """What the table of backends has for a machine."""
    works = [row for row in combinations() if verdict(row).works]
    if machine.fractional:
        works = [row for row in works if row.shared is Shared.NONE]
    if not machine.mig or machine.fractional:
        works = [row for row in works if row.cutting is Cutting.WHOLE]
    if not any(name.startswith("BOTTLEROCKET") for name in machine.ami_types):
        works = [row for row in works if row.backend is not Backend.BOTTLEROCKET]
    if not several(machine):
        works = [row for row in works if row.cutting is not Cutting.LAYOUT]
    return works


@functools.cache
def several(machine: Machine) -> list[dict[str, int]]:
    """Layouts of several profiles."""
    gpu = load().gpu(machine.gpu)
    return [one.counts for one in maximal_layouts(gpu) if len(one.counts) > 1] if gpu.mig else []


@st.composite
def shares(draw: st.DrawFn, shared: Shared) -> Json:
    if shared is Shared.NONE:
        return {}
    kind = "mps" if shared is Shared.MPS else "timeSlicing"
    one = {"failRequestsGreaterThanOne": True} if kind == "timeSlicing" and draw(st.booleans()) else {}
    renamed = {"renameByDefault": True} if draw(st.booleans()) else {}
    return {kind: {"replicas": draw(st.integers(2, 16)), **one}, **renamed}


@st.composite
def cuts(draw: st.DrawFn, machine: Machine, row: Combination) -> Json:
    gpu = load().gpu(machine.gpu)
    match row.cutting:
        case Cutting.WHOLE:
            return {}
        case Cutting.FULL:
            known = [one for one in gpu.profiles if one.bottlerocket or row.backend is not Backend.BOTTLEROCKET]
            cut: Json = {"profile": draw(st.sampled_from(known)).name}
        case Cutting.PART:
            profile = draw(st.sampled_from([one for one in gpu.profiles if one.max_per_gpu > 1]))
            cut = {"layout": {profile.name: draw(st.integers(1, profile.max_per_gpu - 1))}}
        case Cutting.LAYOUT:
            layouts = st.sampled_from(several(machine))
            devices = st.lists(optional(layouts), min_size=machine.gpu_count, max_size=machine.gpu_count)
            cut = {"devices": draw(devices.filter(any))} if draw(st.booleans()) else {"layout": draw(layouts)}
    return {"mig": {**cut, "strategy": row.strategy}}


@st.composite
def nodes(draw: st.DrawFn) -> Json:
    if draw(st.booleans()):
        return {"count": draw(st.integers(0, 9))}
    low = draw(st.integers(0, 5))
    high = draw(st.integers(low + 1, 20))
    first = draw(optional(st.integers(low, high)))
    return {"min": low, "max": high} if first is None else {"min": low, "max": high, "count": first}


@st.composite
def options(draw: st.DrawFn, row: Combination, capacity: str) -> Json:
    reserved, operator = capacity == "reserved", row.backend is Backend.GPU_OPERATOR
    plain = row.backend in (Backend.DEVICE_PLUGIN, Backend.GPU_OPERATOR) and not reserved
    own = plain and draw(st.booleans())
    said = {
        "backend": row.backend,
        "subnets": draw(optional(st.just([SUBNETS[1]]))),
        "updateConfig": draw(optional(st.sampled_from([{"maxUnavailable": 1}, {"maxUnavailablePercentage": 50}]))),
        "nodeRepairConfig": draw(optional(st.sampled_from([{"enabled": True}, {"enabled": False}]))),
        "diskType": None if own else draw(optional(st.just("gp2"))),
        "startupTaint": draw(optional(st.booleans())) if operator and row.strategy else None,
        "autoscalerTags": draw(optional(st.booleans())),
        "launchTemplate": {"name": "mine", "version": "2"} if own else None,
        "reservation": "cr-0123456789abcdef0" if reserved else None,
        "placementGroup": None if own else draw(optional(st.just("gpus"))),
        "capacityBlock": draw(optional(st.booleans())) if reserved else None,
    }
    return {key: value for key, value in said.items() if value is not None}


@st.composite
def specs(draw: st.DrawFn) -> Json:
    machine = draw(st.sampled_from(MACHINES))
    row = draw(st.sampled_from(rows(machine)))
    capacity = draw(st.sampled_from(["on-demand", "spot", "reserved"]))
    keyed = st.dictionaries(WORDS, WORDS, max_size=3)
    taints = st.lists(WORDS, unique=True, max_size=3).map(lambda keys: [f"{key}=v:NoExecute" for key in keys])
    said = draw(options(row, capacity))
    sized = "launchTemplate" not in said and draw(st.booleans())
    return {
        "machine": machine.name,
        "sharing": {**draw(cuts(machine, row)), **draw(shares(row.shared))},
        "nodes": draw(nodes()),
        "capacity": capacity,
        "disk": {"sizeGb": draw(st.integers(20, 500))} if sized else {},
        "labels": draw(keyed),
        "tags": draw(keyed),
        "taints": draw(taints),
        "gpuTaint": draw(st.booleans()),
        "eks": said,
    }


def accepted(spec: Json) -> ResolvedPool:
    """The pool of a spec, which no rule refuses."""
    found = resolution(**spec)
    assert found.pool is not None
    errors = [one for one in (*found.findings, *eks.rules(found.pool, FACTS)) if one.level is Level.ERROR]
    assert errors == [], spec
    return found.pool


pools = specs().map(accepted)
often = settings(derandomize=True, deadline=None, max_examples=100)


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
    written, notes = eks.read(shown(eks.desired(pool, FACTS)))
    again = resolve(written, load()).pool
    assert again is not None
    if any(note.code == "sharing-unknown" for note in notes):
        assert re.search(r"gpus-\d+layouts-", labels(pool)[LABEL])  # the one name that is too short to tell
        return
    assert (again.sharing, again.nodes) == (pool.sharing, _as_eks_has(pool))
    assert again.backend is pool.backend or combination_of(pool).cutting is Cutting.WHOLE


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
