"""Label selectors, field selectors, taints and node affinity: what matches what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.world import Json

Labels = dict[str, str]
Test = Callable[[Json], bool]

_TERM = re.compile(
    r"""\s*(?:
        (?P<not>!)?\s*(?P<key>[A-Za-z0-9_./-]+)\s*
        (?:(?P<op>==|=|!=|>|<)\s*(?P<value>[A-Za-z0-9_.-]*)|\s(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?
    )\s*(?:,|$)""",
    re.VERBOSE,
)


def labels_of(body: Json) -> Labels:
    return body["metadata"].get("labels") or {}


def label_selector(text: str) -> Test:
    """`a=b,c!=d,e in (f,g),!h` as a test of objects; raises 400 for what cannot be read."""
    terms, at = [], 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            raise status.bad_request(f"unable to parse requirement: found '{text[at:]}', expected: a requirement")
        terms.append(_label_term(match))
        at = match.end()
    return lambda body: all(term(labels_of(body)) for term in terms)


def _label_term(match: re.Match[str]) -> Callable[[Labels], bool]:
    key, operator, value = match["key"], match["op"] or match["set"], match["value"]
    values = {part.strip() for part in (match["values"] or "").split(",")} if match["set"] else {value}
    if match["not"]:
        return lambda labels: key not in labels
    if operator is None:
        return lambda labels: key in labels
    if operator in ("=", "==", "in"):
        return lambda labels: labels.get(key) in values
    if operator in ("!=", "notin"):
        return lambda labels: labels.get(key) not in values
    return lambda labels: _compare(labels.get(key), operator, value)


def _compare(have: str | None, operator: str, wanted: str) -> bool:
    try:
        return have is not None and (int(have) > int(wanted) if operator in (">", "Gt") else int(have) < int(wanted))
    except ValueError:
        return False


def field_selector(text: str) -> Test:
    """`spec.nodeName=x,status.phase!=Failed` as a test of objects; a field that is absent counts as empty."""
    terms: list[tuple[list[str], bool, str]] = []
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"\s*([\w.]+)\s*(!=|==|=)\s*(.*?)\s*", part)
        if match is None:
            raise status.bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append((match[1].split("."), match[2] != "!=", match[3]))
    return lambda body: all((_field(body, path) == value) is equal for path, equal, value in terms)


def _field(body: Any, path: list[str]) -> str:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return "" if body is None else str(body).lower() if isinstance(body, bool) else str(body)


def matches(selector: Json | None, labels: Labels) -> bool:
    """A `LabelSelector`; None matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_expression(expression, labels) for expression in selector.get("matchExpressions") or ())


def _expression(expression: Json, labels: Labels) -> bool:
    key, values = expression["key"], expression.get("values") or []
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case operator:
            return _compare(labels.get(key), operator, values[0] if values else "")


def node_matches(spec: Json, node: Json) -> bool:
    """Whether a pod's nodeSelector and required node affinity admit that node."""
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return affinity is None or any(_node_term(term, node) for term in affinity.get("nodeSelectorTerms") or ())


def _node_term(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    labels, names = labels_of(node), {"metadata.name": node["metadata"]["name"]}
    return all(_expression(one, labels) for one in expressions) and all(_expression(one, names) for one in fields)


def untolerated(taints: Iterable[Json], tolerations: list[Json], effects: tuple[str, ...]) -> Json | None:
    """The first taint of those effects that no toleration covers."""
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    key, operator = toleration.get("key", ""), toleration.get("operator") or "Equal"
    if not key:
        return operator == "Exists"
    if key != taint["key"]:
        return False
    return operator == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")
