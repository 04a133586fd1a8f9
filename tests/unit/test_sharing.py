"""Cuts and shares: what a node's GPUs become."""

from __future__ import annotations

import pytest

from fracgpu.sharing import Cut, Layout, Mig, Mps, Share, Sharing, SharingKind, Strategy, TimeSlicing, Whole

SEVEN: Layout = (("1g.5gb", 7),)
MIXED: Layout = (("3g.20gb", 1), ("2g.10gb", 1), ("1g.5gb", 2))


def mig(*devices: Layout | None) -> Mig:
    return Mig(devices, Strategy.SINGLE)


@pytest.mark.parametrize(
    ("cut", "share", "kind"),
    [
        (Whole(), None, SharingKind.WHOLE),
        (Whole(), TimeSlicing(10), SharingKind.TIME_SLICING),
        (Whole(), Mps(4), SharingKind.MPS),
        (mig(SEVEN), None, SharingKind.MIG),
        (mig(MIXED), None, SharingKind.MIG_LAYOUT),
        (mig(SEVEN, None), None, SharingKind.MIG_LAYOUT),
        (mig(SEVEN, SEVEN), TimeSlicing(2), SharingKind.MIG_TIME_SLICING),
        (mig(SEVEN), Mps(2), SharingKind.MIG_MPS),
    ],
)
def test_every_pair_of_cut_and_share_has_its_column(cut: Cut, share: Share, kind: SharingKind) -> None:
    assert Sharing(cut, share).kind is kind


def test_gpus_that_are_cut_alike_are_told_from_gpus_that_are_not() -> None:
    assert mig(SEVEN, SEVEN).alike == SEVEN
    assert mig(SEVEN, SEVEN).one_profile == "1g.5gb"
    assert mig(MIXED, MIXED).alike == MIXED
    assert mig(MIXED).one_profile is None
    assert mig(SEVEN, None).alike is None
    assert mig(None, None).alike is None
    assert mig().alike is None


def test_instances_are_counted_over_all_gpus_of_a_node() -> None:
    assert mig(SEVEN, None, MIXED).counts == {"1g.5gb": 9, "3g.20gb": 1, "2g.10gb": 1}
    assert mig(SEVEN, None, MIXED).whole_gpus == 1
    assert mig(None).counts == {}


def test_what_is_not_shared_has_one_replica_and_keeps_its_name() -> None:
    alone = Sharing(Whole())
    assert (alone.replicas, alone.renamed) == (1, False)
    shared = Sharing(Whole(), Mps(4, rename=True))
    assert (shared.replicas, shared.renamed) == (4, True)
