"""Laws for any pool: what the rules accept is taken, what is exported plans to nothing, what can be updated is."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Level
from fracgpu.plan import Action, Json
from fracgpu.providers import Observed, aks
from fracgpu.providers.aks.update import merged
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.sandbox.aks import body as aks_body
from fracgpu.sandbox.aks import pools
from fracgpu.sandbox.world import Cloud, World
from tests.aks_pools import planned, resolution, resource, seen

MACHINES = load().machines(ProviderName.AKS)
READ_ONLY = ("eTag", "provisioningState", "currentOrchestratorVersion", "status")

words = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
some = st.booleans()


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def said(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}


@st.composite
def sharings(draw: st.DrawFn, machine: Machine) -> Json:
    if machine.fractional:
        return {}
    profiles = [profile.name for profile in load().gpu(machine.gpu).profiles if profile.aks] if machine.mig else []
    profile = draw(st.sampled_from([None, *profiles]))
    cut = {"mig": said({"profile": profile, "strategy": draw(st.sampled_from([None, "mixed"]))})} if profile else {}
    kind = draw(st.sampled_from([None, "timeSlicing", *([] if cut else ["mps"])]))
    if kind is None:
        return cut
    share: Json = {"replicas": draw(st.integers(2, 48))}
    if kind == "timeSlicing" and draw(some):
        share["failRequestsGreaterThanOne"] = True
    renamed = {"renameByDefault": True} if draw(some) else {}
    key = {"configKey": draw(words)} if draw(st.integers(0, 5)) == 0 else {}
    return {**cut, kind: share, **renamed, **key}


@st.composite
def counts(draw: st.DrawFn, least: int) -> Json:
    if draw(some):
        return {"count": draw(st.integers(least, 9))}
    low = draw(st.integers(least, 5))
    high = draw(st.integers(low + 1, 20))
    first = draw(optional(st.integers(low, high)))
    return {"min": low, "max": high} if first is None else {"min": low, "max": high, "count": first}


@st.composite
def movable(draw: st.DrawFn, *, spot: bool) -> Json:
    """What an update can change in place."""
    keyed = st.dictionaries(words, words, max_size=3)
    taints = st.lists(words, unique=True, max_size=3).map(lambda keys: [f"{key}=v:NoExecute" for key in keys])
    mode = None if spot else draw(st.sampled_from([None, "User", "System"]))
    upgrades = said(
        {
            "maxSurge": None if spot else draw(optional(st.sampled_from(["1", "33%"]))),
            "drainTimeoutInMinutes": draw(optional(st.integers(31, 60))),
            "undrainableNodeBehavior": draw(optional(st.sampled_from(["Cordon", "Schedule"]))),
        }
    )
    return {
        "nodes": draw(counts(1 if mode == "System" else 0)),
        "labels": draw(keyed),
        "tags": draw(keyed),
        "taints": draw(taints),
        "gpuTaint": draw(some),
        "aks": said({"mode": mode, "upgradeSettings": upgrades or None}),
    }


@st.composite
def fixed(draw: st.DrawFn) -> Json:
    """What an update cannot change in place."""
    machine = draw(st.sampled_from(MACHINES))
    spot = draw(some)
    disk = {"sizeGb": draw(st.integers(30, 500))} if draw(some) else {}
    options = {
        "diskType": draw(optional(st.sampled_from(["Managed", "Ephemeral"]))),
        "maxPods": draw(optional(st.integers(10, 250))),
        "fips": draw(optional(some)),
        "evictionPolicy": draw(st.sampled_from(["Delete", "Deallocate"])) if spot else None,
        "spotMaxPrice": draw(optional(st.sampled_from([-1, 0.5, 12.25]))) if spot else None,
    }
    return {
        "machine": machine.name,
        "zones": draw(optional(st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True))),
        "capacity": "spot" if spot else "on-demand",
        "disk": disk,
        "sharing": draw(sharings(machine)),
        "fixed": said(options),
    }


def joined(fixed_part: Json, moving: Json) -> Json:
    spec = {**fixed_part, **moving}
    spec["aks"] = {**moving["aks"], **spec.pop("fixed")}
    return spec


@st.composite
def specs(draw: st.DrawFn) -> Json:
    part = draw(fixed())
    return joined(part, draw(movable(spot=part["capacity"] == "spot")))


def accepted(spec: Json) -> ResolvedPool:
    """The pool of a spec that AKS's rules have nothing against."""
    found = resolution(**spec)
    assert found.pool is not None
    errors = [one for one in (*found.findings, *aks.rules(found.pool, None)) if one.level is Level.ERROR]
    assert errors == []
    return found.pool


class Server:
    """The sandbox's agent pools without a wire: its checks, and what it fills in, from the same public facts."""

    def __init__(self) -> None:
        self._world = World(operation_seconds=0)
        self._cluster = self._world.cluster(Cloud.AKS, "00000000-0000-0000-0000-000000000000", "ml", "prod")

    def put(self, of: ResolvedPool, body: Json) -> Observed:
        """Make or change the pool, and show it."""
        sent = aks_body.properties(body)
        _, made, _ = pools.put(self._world, self._cluster, of.name, sent, None)
        self._world.settle()
        shown: Json = pools.view(made, "")["properties"]
        return seen(of, shown)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(specs())
def test_what_the_rules_accept_is_made_and_plans_to_nothing(spec: Json) -> None:
    made = accepted(spec)
    there = Server().put(made, resource(made).body)
    assert planned(made, there).fields == ()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(specs())
def test_exported_and_planned_again_nothing_changes(spec: Json) -> None:
    made = accepted(spec)
    there = Server().put(made, resource(made).body)
    again = resolve(aks.read(there)[0], load()).pool
    assert again is not None
    assert planned(again, there).fields == ()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(specs())
def test_a_body_says_all_that_the_spec_said(spec: Json) -> None:
    """From spec to body to file and back, with nothing filled in by anyone: the same body again."""
    made = accepted(spec)
    body = resource(made).body
    again = resolve(aks.read(seen(made, body["properties"]))[0], load()).pool
    assert again is not None
    assert resource(again).body == body


@settings(derandomize=True, deadline=None, max_examples=40)
@given(fixed(), st.data())
def test_updates_in_place_end_where_they_should(part: Json, data: st.DataObject) -> None:
    """From any pool to any other that differs in what can be moved: one PUT, and nothing is left."""
    spot = part["capacity"] == "spot"
    before, after = (accepted(joined(part, data.draw(movable(spot=spot)))) for _ in range(2))
    server = Server()
    there = server.put(before, resource(before).body)
    change = planned(after, there)
    assume(change.action is not Action.NO_OP)
    assert change.action is Action.UPDATE, change.reason
    writable = {name: value for name, value in there.body["properties"].items() if name not in READ_ONLY}
    body = merged(there.resources[-1], {"properties": writable}, resource(after).body)
    assert planned(after, server.put(after, body)).fields == ()
