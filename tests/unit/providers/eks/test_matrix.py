"""The table backend x cut x strategy x share: every cell works, or the pool is refused for the reason that it gives."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import Level
from fracgpu.providers import eks
from fracgpu.providers.eks.matrix import Combination, Cutting, Shared, combination_of, combinations, verdict
from fracgpu.sharing import Backend, Strategy
from tests.eks_pools import FACTS, resolution

ROWS = list(combinations())
CUTS: dict[Cutting, dict[str, Any]] = {
    Cutting.FULL: {"profile": "2g.20gb"},
    Cutting.PART: {"layout": {"2g.20gb": 2}},
    Cutting.LAYOUT: {"layout": {"3g.40gb": 1, "1g.10gb": 2}},
}
SHARES: dict[Shared, dict[str, Any]] = {
    Shared.NONE: {},
    Shared.TIME_SLICING: {"timeSlicing": {"replicas": 4}},
    Shared.MPS: {"mps": {"replicas": 4}},
}

Cell = tuple[Cutting, Strategy | None, Shared]
WORKS: dict[Backend, set[Cell]] = {
    Backend.DEVICE_PLUGIN: {(Cutting.WHOLE, None, shared) for shared in Shared},
    Backend.BOTTLEROCKET: {(Cutting.WHOLE, None, shared) for shared in Shared}
    | {(Cutting.FULL, Strategy.SINGLE, shared) for shared in (Shared.NONE, Shared.TIME_SLICING)},
    Backend.USER_DATA: {
        (cut, strategy, shared)
        for cut in CUTS
        for strategy in Strategy
        for shared in (Shared.NONE, Shared.TIME_SLICING)
        if (cut, strategy) != (Cutting.LAYOUT, Strategy.SINGLE)
    },
}
WORKS[Backend.GPU_OPERATOR] = WORKS[Backend.USER_DATA] | WORKS[Backend.DEVICE_PLUGIN]


def spec(row: Combination) -> dict[str, Any]:
    cut = {"mig": {**CUTS[row.cutting], "strategy": row.strategy}} if row.strategy else {}
    return {"machine": "p5.4xlarge", "sharing": {**cut, **SHARES[row.shared]}, "eks": {"backend": row.backend}}


def words(row: Combination) -> str:
    return f"{row.backend}-{row.cutting.name}-{row.strategy}-{row.shared}".lower()


def test_the_table_is_whole() -> None:
    assert len(ROWS) == len(Backend) * len(Shared) * (1 + len(CUTS) * len(Strategy))


@pytest.mark.parametrize("row", ROWS, ids=words)
def test_what_works(row: Combination) -> None:
    assert verdict(row).works == ((row.cutting, row.strategy, row.shared) in WORKS[row.backend])
    assert verdict(row).text


@pytest.mark.parametrize("row", ROWS, ids=words)
def test_the_rules_say_the_same(row: Combination) -> None:
    pool = resolution(**spec(row)).pool
    assert pool is not None
    assert combination_of(pool) == row
    errors = [one for one in eks.rules(pool, FACTS) if one.level is Level.ERROR]
    said = verdict(row)
    assert [one.code for one in errors] == ([] if said.works else [said.code])
    assert all(one.field == said.field and one.hint for one in errors)


@pytest.mark.parametrize("row", [row for row in ROWS if verdict(row).instead], ids=words)
def test_what_is_proposed_instead_works(row: Combination) -> None:
    instead = verdict(row).instead
    assert instead is not None
    assert verdict(Combination(instead, row.cutting, row.strategy, row.shared)).works


@pytest.mark.parametrize("row", [row for row in ROWS if verdict(row).works], ids=words)
def test_what_works_has_a_body_that_says_it(row: Combination) -> None:
    """Who cuts has been told, and nobody else has."""
    pool = resolution(**spec(row)).pool
    assert pool is not None
    *templates, group = eks.desired(pool, FACTS)
    texts = [text for one in templates for text in one.decoded.values()]
    body, cut = group.body, row.cutting is not Cutting.WHOLE
    assert any("device-partitioning-strategy" in text for text in texts) == (
        cut and row.backend is Backend.BOTTLEROCKET
    )
    assert any("nvidia-smi mig" in text for text in texts) == (cut and row.backend is Backend.USER_DATA)
    labels = body.get("labels", {})
    assert ("nvidia.com/mig.config" in labels) == (cut and row.backend is Backend.GPU_OPERATOR)
    shared = row.shared is not Shared.NONE or row.strategy is Strategy.MIXED
    assert ("nvidia.com/device-plugin.config" in labels) == (shared and row.backend is not Backend.BOTTLEROCKET)
    assert body["amiType"].startswith("BOTTLEROCKET" if row.backend is Backend.BOTTLEROCKET else "AL2023")
