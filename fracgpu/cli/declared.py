"""The pools that files declare, or a saved plan, and what their clusters say of them: the first half of plan and
apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fracgpu.catalog.load import load
from fracgpu.cli.connect import connect
from fracgpu.cli.flags import SpecFlags
from fracgpu.cli.spec_of import documents
from fracgpu.errors import Invalid
from fracgpu.manifest import Document
from fracgpu.operations.ownership import fleet_name
from fracgpu.operations.planning import Choices
from fracgpu.operations.prepare import Prepared, prepare_all
from fracgpu.operations.saved import SavedPlan, check_fresh, load_plan
from fracgpu.operations.survey import Survey, look_around, refuse_twins


@dataclass(frozen=True, slots=True)
class Declared:
    """Pools as declared, sound as far as can be told offline."""

    documents: tuple[Document, ...]
    prepared: tuple[Prepared, ...]
    choices: Choices
    prune: bool
    strict: bool
    saved: SavedPlan | None = None

    def survey(self) -> Survey:
        """Ask the clusters. Raises StalePlan where a saved plan is no longer what would be done."""
        found = look_around(
            self.documents, self.prepared, connect, load(), self.choices, prune=self.prune, strict=self.strict
        )
        if self.saved:
            for error in found.failed.values():
                raise error
            check_fresh(self.saved, found.plan())
        return found


def declared(files: Sequence[str] | None, choices: Choices, *, prune: bool, strict: bool) -> Declared:
    """What the files say. Raises Invalid with the findings of all of them."""
    if not files:
        raise Invalid.one(
            "usage", "which pools? name their files", field="-f", hint="-f FILE, a folder, or - for stdin"
        )
    if prune and choices.fleet is None:
        message = "--prune deletes what a fleet no longer declares, and no fleet is named"
        raise Invalid.one("usage", message, field="--prune", hint="--fleet NAME")
    if choices.fleet is not None:
        fleet_name(choices.fleet)
    found = documents(None, SpecFlags(file=list(files)))
    return _sound(found, choices, prune=prune, strict=strict)


def promised(file: Path, *, strict: bool) -> Declared:
    """What a saved plan says."""
    saved = load_plan(file)
    return _sound(saved.documents, saved.choices, prune=saved.prune, strict=strict, saved=saved)


def _sound(
    found: Sequence[Document], choices: Choices, *, prune: bool, strict: bool, saved: SavedPlan | None = None
) -> Declared:
    prepared = prepare_all(found, load(), strict=strict)
    refuse_twins(found, prepared)
    return Declared(tuple(found), tuple(prepared), choices, prune, strict, saved)
