"""A plan, printed: every change with its glyph, every field that differs, the body in full with -o json or yaml."""

from __future__ import annotations

import sys

from fracgpu.cli import output
from fracgpu.cli.output import Output, painted, say_notes
from fracgpu.plan import Action, Change, Plan

GLYPHS = {
    Action.CREATE: ("+", "32"),
    Action.UPDATE: ("~", "33"),
    Action.REPLACE: ("±", "35"),
    Action.DELETE: ("-", "31"),
    Action.NO_OP: ("=", "2"),
}

FEW = 100
"""Changes up to which a person is shown the bodies; the others see them with -o json or yaml."""


def show_plan(plan: Plan, out: Output, **more: object) -> None:
    """Print a plan. Notes stand in the document, or on stderr where the answer is a table."""
    if output.write_document(out, "Plan", {**plan.to_json(), **more}):
        return
    if out is Output.NAME:
        output.write("\n".join(dict.fromkeys(f"nodepool/{change.pool}" for change in plan.changes)))
        return
    brief = len(plan.changes) > FEW
    lines = [change_head(change) if brief else change_text(change) for change in plan.changes]
    output.write("\n".join([*lines, summary(plan)]))
    say_notes(plan.notes)


def change_head(change: Change) -> str:
    """What happens to which resource, and why."""
    glyph, code = GLYPHS[change.action]
    head = painted(f"{glyph} {change.action.value} {change.resource} {change.name}", code, sys.stdout)
    if change.reason and change.action not in (Action.CREATE, Action.NO_OP):
        return f"{head}  ({change.reason})"
    return head


def change_text(change: Change) -> str:
    """One change for a person: what happens to which resource, then the body or the fields that differ."""
    lines = [change_head(change)]
    if change.action is Action.CREATE and change.after is not None:
        lines += ["    " + line for line in output.to_yaml(change.after).rstrip().splitlines()]
    lines += [f"    {one}  [{one.effect.value}]" for one in change.fields]
    for path, text in change.decoded.items():
        lines += [f"    # {path} says:", *(f"    | {line}" for line in text.rstrip().splitlines())]
    return "\n".join(lines)


def summary(plan: Plan) -> str:
    """How many changes of each kind."""
    counts = {action: sum(change.action is action for change in plan.changes) for action in Action}
    words = [f"{count} to {action.value}" for action, count in counts.items() if count and action is not Action.NO_OP]
    same = counts[Action.NO_OP]
    return "Plan: " + (", ".join(words) or "no changes") + (f", {same} unchanged" if same else "") + "."
