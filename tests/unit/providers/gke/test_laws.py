"""Laws for any pool: what is exported plans to nothing, and any update that can be made in place is, and ends."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Level
from fracgpu.plan import Action, Json, change_of
from fracgpu.providers import gke
from fracgpu.providers.gke.steps import next_step
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.sandbox.gke.pool import filled
from fracgpu.sandbox.gke.rules import check_new_pool
from fracgpu.sandbox.world import Cloud, Cluster, World
from tests.gke_pools import FACTS, ZONES, resolution, resource, seen
from tests.unit.providers.gke.test_steps import current, server

ELSEWHERE = Cluster(Cloud.GKE, ("acme", "us-central1", "regional-prod"))
MACHINES = [row for row in load().machines(ProviderName.GKE) if row.on_demand]

words = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
some = st.booleans()


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@st.composite
def shares(draw: st.DrawFn) -> Json:
    kind = draw(st.sampled_from(["timeSlicing", "mps", None]))
    return {kind: {"replicas": draw(st.integers(2, 48))}} if kind else {}


@st.composite
def cuts(draw: st.DrawFn, machine: Machine) -> Json:
    profiles = [profile.name for profile in load().gpu(machine.gpu).profiles if profile.gke] if machine.mig else []
    profile = draw(st.sampled_from([None, *profiles]))
    return {"mig": {"profile": profile}} if profile else {}


@st.composite
def counts(draw: st.DrawFn, zones: int) -> Json:
    if draw(some):
        return {"count": draw(st.integers(0, 4)) * zones}
    low = draw(st.integers(0, 5))
    high = draw(st.integers(low + 1, 20))
    first = draw(optional(st.integers(low, high)))
    return {"min": low, "max": high} if first is None else {"min": low, "max": high, "count": first}


@st.composite
def movable(draw: st.DrawFn, zones: int) -> Json:
    """What an update can change in place."""
    keyed = st.dictionaries(words, words, max_size=3)
    taints = st.lists(words, unique=True, max_size=3).map(lambda keys: [f"{key}=v:NoExecute" for key in keys])
    nodes = draw(counts(zones))
    policy = optional(st.sampled_from(["ANY", "BALANCED"])) if "max" in nodes else st.none()
    options = {
        "driverVersion": draw(optional(st.sampled_from(["DEFAULT", "LATEST"]))),
        "networkTags": draw(optional(st.lists(words, min_size=1, max_size=3, unique=True))),
        "autoUpgrade": draw(optional(some)),
        "autoRepair": draw(optional(some)),
        "maxSurge": draw(optional(st.integers(1, 5))),
        "maxUnavailable": draw(optional(st.integers(0, 5))),
        "locationPolicy": draw(policy),
        "imageType": draw(optional(st.sampled_from(["COS_CONTAINERD", "ubuntu_containerd"]))),
    }
    return {
        "nodes": nodes,
        "labels": draw(keyed),
        "tags": draw(keyed),
        "taints": draw(taints),
        "gpuTaint": draw(some),
        "disk": {"sizeGb": draw(st.integers(10, 500))} if draw(some) else {},
        "gke": options,
    }


@st.composite
def fixed(draw: st.DrawFn) -> Json:
    """What an update cannot change in place."""
    machine = draw(st.sampled_from(MACHINES))
    zones = draw(optional(st.lists(st.sampled_from(ZONES), min_size=1, max_size=3, unique=True)))
    share = {} if machine.fractional else draw(shares())
    return {
        "machine": machine.name,
        "gpu": machine.gpu,
        "zones": zones,
        "capacity": draw(st.sampled_from(["on-demand", "spot"])),
        "sharing": {**draw(cuts(machine)), **share},
        "fixed": {"acceleratorCount": draw(st.sampled_from(machine.gpu_counts))},
    }


def joined(fixed_part: Json, moving: Json) -> Json:
    spec = {**fixed_part, **moving}
    spec["gke"] = {key: value for key, value in {**moving["gke"], **spec.pop("fixed")}.items() if value is not None}
    return spec


def accepted(spec: Json) -> ResolvedPool:
    """The pool of a spec, which GKE's rules and the sandbox's server have nothing against."""
    found = resolution(**spec)
    assert found.pool is not None
    errors = [one for one in (*found.findings, *gke.rules(found.pool, FACTS)) if one.level is Level.ERROR]
    assert errors == []
    return found.pool


@st.composite
def specs(draw: st.DrawFn) -> Json:
    part = draw(fixed())
    return joined(part, draw(movable(len(part["zones"] or ZONES))))


@settings(derandomize=True, deadline=None, max_examples=80)
@given(specs())
def test_what_the_rules_accept_the_server_takes(spec: Json) -> None:
    """The sandbox's own checks, written from the same public facts by other hands, find nothing."""
    check_new_pool(World(), ELSEWHERE, resource(accepted(spec)).body)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(specs())
def test_exported_and_planned_again_nothing_changes(spec: Json) -> None:
    made = accepted(spec)
    there = seen(made, filled(ELSEWHERE, resource(made).body))
    again = resolve(gke.read(there)[0], load())
    assert again.pool is not None
    wanted = resource(again.pool)
    found = change_of(wanted, gke.settled(there.resources[-1]), gke.comparison(wanted.kind))
    assert found.action is Action.NO_OP, found.reason


@settings(derandomize=True, deadline=None, max_examples=80)
@given(specs())
def test_applied_and_planned_again_nothing_changes(spec: Json) -> None:
    wanted = resource(accepted(spec))
    there = seen(accepted(spec), filled(ELSEWHERE, wanted.body))
    found = change_of(wanted, gke.settled(there.resources[-1]), gke.comparison(wanted.kind))
    assert found.action is Action.NO_OP, found.reason


@settings(derandomize=True, deadline=None, max_examples=80)
@given(fixed(), st.data())
def test_updates_in_place_end_where_they_should(part: Json, data: st.DataObject) -> None:
    """From any body to any other that differs in what can be moved: the steps end, and nothing is left."""
    zones = len(part["zones"] or ZONES)
    before, after = (accepted(joined(part, data.draw(movable(zones)))) for _ in range(2))
    shown, wanted = filled(ELSEWHERE, resource(before).body), resource(after)
    planned = change_of(wanted, gke.settled(current(shown)), gke.comparison(wanted.kind))
    assume(planned.action is not Action.NO_OP)
    assert planned.action is Action.UPDATE, planned.reason
    done: list[str] = []
    while step := next_step(current(shown), wanted.body, done):
        done.append(step.what)
        shown = server(shown, step)
    left = change_of(wanted, gke.settled(current(shown)), gke.comparison(wanted.kind))
    assert left.action is Action.NO_OP, left.reason
    assert done
