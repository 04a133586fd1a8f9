"""A plan kept in a file: a promise, not a payload.

The file holds the pools as they were declared and the changes that were shown. `apply --plan` plans those pools anew
and compares; the bodies in the file are read for that comparison alone and are never sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fracgpu.errors import Invalid, StalePlan
from fracgpu.manifest import Document, document_of, read
from fracgpu.operations.planning import Choices
from fracgpu.plan import Change, Json, Plan
from fracgpu.spec import API_VERSION
from fracgpu.textfile import read_text

MAKE = "fracgpu pool plan --out FILE writes one"
PROMISED = ("action", "resource", "name", "pool", "cluster", "after", "fields")
"""What a change must still be. `before` counts by its fields that change: the rest of it may move."""
CHOICES = ("adopt", "recreate", "replace", "fleet")


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan as it was shown."""

    documents: tuple[Document, ...]
    choices: Choices
    prune: bool
    changes: tuple[Json, ...]


def saved_members(documents: Sequence[Document], choices: Choices, *, prune: bool) -> Json:
    """What a saved plan has beside the Plan itself."""
    said = {name: getattr(choices, name) for name in CHOICES}
    return {"options": {**said, "prune": prune}, "pools": [document_of(one.pool) for one in documents]}


def save(document: Json, file: Path) -> None:
    """Write the plan, whole or not at all; into a pipe or device, which is not to be replaced, as far as it goes."""
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    partial = file.with_name(f".{file.name}.part")
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        raise Invalid.one(
            "usage", f"cannot write {file}: {error.strerror}", field="--out", hint="--out FILE"
        ) from error


def load_plan(file: Path) -> SavedPlan:
    """Read a plan back. Raises Invalid for anything that `pool plan --out` has not written."""
    try:
        saved = json.loads(read_text(file))
    except OSError as error:
        raise Invalid.one("usage", f"cannot read {file}: {error.strerror}", field="--plan", hint=MAKE) from error
    except (ValueError, RecursionError) as error:
        raise _not_a_plan(file, str(error)) from error
    if not isinstance(saved, dict) or saved.get("kind") != "Plan" or saved.get("apiVersion") != API_VERSION:
        raise _not_a_plan(file, f"it is no {API_VERSION} Plan")
    options, pools, changes = saved.get("options"), saved.get("pools"), saved.get("changes")
    if not isinstance(options, dict) or not isinstance(pools, list) or not isinstance(changes, list):
        raise _not_a_plan(file, "it lacks options, pools or changes")
    choices = Choices(**{name: options[name] for name in CHOICES if options.get(name)})
    items = json.dumps({"kind": "NodePoolList", "apiVersion": API_VERSION, "items": pools})
    documents = tuple(read(items, str(file))) if pools else ()
    return SavedPlan(documents, choices, bool(options.get("prune")), tuple(changes))


def _not_a_plan(file: Path, why: str) -> Invalid:
    return Invalid.one("invalid-value", f"{file} is no saved plan: {why}", field="--plan", hint=MAKE)


def check_fresh(saved: SavedPlan, plan: Plan) -> None:
    """Raises StalePlan where the plan made now is not the one that was saved."""
    before = {_key(change): change for change in saved.changes}
    now = {_key(change): change for change in map(_written, plan.changes)}
    stale = [name for name in {**before, **now} if not _kept(before.get(name), now.get(name))]
    if stale:
        said = "; ".join(_difference(before.get(name), now.get(name)) for name in stale[:5])
        message = f"{len(stale)} of {len(now)} changes are not what the plan says: {said}"
        names = ["/".join(key[:2]) for key in stale]
        raise StalePlan(message, hint="plan again, and look at it", detail={"changes": names})


def _written(change: Change) -> Json:
    """As it stands in a file after a round trip."""
    written: Json = json.loads(json.dumps(change.to_json()))
    return written


def _key(change: Any) -> tuple[str, ...]:
    if not isinstance(change, dict):
        return ("?", repr(change)[:80])
    cluster = json.dumps(change.get("cluster"), sort_keys=True)
    return (str(change.get("resource")), str(change.get("name")), cluster)


def _kept(before: Any, now: Json | None) -> bool:
    return isinstance(before, dict) and now is not None and all(before.get(key) == now[key] for key in PROMISED)


def _difference(before: Any, now: Json | None) -> str:
    if now is None:
        return f"{before.get('action')} {before.get('name')} is no longer planned" if before else "unknown"
    if before is None:
        return f"{now['action']} {now['name']} was not planned"
    if before.get("action") != now["action"]:
        return f"{now['name']} was to {before.get('action')} and is now to {now['action']}"
    changed = [key for key in PROMISED if before.get(key) != now[key]]
    return f"{now['name']} differs in {', '.join(changed)}"
