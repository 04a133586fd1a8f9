"""Which known word a mistyped one means."""

from __future__ import annotations

import pytest

from fracgpu.nearest import nearest_words, slips


@pytest.mark.parametrize(
    ("typed", "meant", "count"),
    [("", "", 0), ("", "abc", 3), ("mig", "mig", 0), ("mgi", "mig", 1), ("ab", "ba", 1), ("kitten", "sitting", 3)],
)
def test_letters_left_out_put_in_mistaken_or_exchanged_are_slips(typed: str, meant: str, count: int) -> None:
    assert slips(typed, meant) == slips(meant, typed) == count


def test_the_fewest_slips_come_first_and_strangers_do_not_come() -> None:
    assert nearest_words("--mgi", ["--min", "--max", "--mig", "--zone"]) == ("--mig", "--min", "--max")
    assert nearest_words("--mgi", ["--zone"]) == ()
    assert nearest_words("machin", ["machine", "machines"], most=1) == ("machine",)


def test_a_beginning_means_what_begins_so() -> None:
    assert nearest_words("p4d", ["p4de.24xlarge", "p4d.24xlarge", "g5.xlarge"]) == ("p4d.24xlarge", "p4de.24xlarge")
    assert nearest_words("p4", ["p4d.24xlarge"]) == ()
