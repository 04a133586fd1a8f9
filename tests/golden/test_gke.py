"""The bodies that GKE is sent, whole: as files, against Google's schema, and against what gcloud sends.

A file of `gke/` has a spec and the body that it becomes. After a change that is meant, `python -m
tests.golden.test_gke` writes bodies and forms anew; review the difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.cloud.container_v1.types import cluster_service
from google.protobuf import json_format

from fracgpu.plan import Json
from fracgpu.providers import ClusterFacts, Form, gke
from fracgpu.providers.gke.desired import SCOPES
from tests.gke_pools import pool

FOLDER = Path(__file__).parent / "gke"
WIRE = Path(__file__).parent / "wire" / "gke"
CASES = sorted(FOLDER.glob("*.json"))
names = [path.stem for path in CASES]

DIFFERENCES = {
    "config.accelerators.0.gpuDriverInstallationConfig": "what the server makes of none changed at 1.30.1",
    "config.metadata": "the server adds it from 1.12 on; here the plan shows it",
    "config.resourceLabels": "the mark of ownership",
    "config.taints": "GKE adds the GPU taint only where the cluster has a pool without GPUs",
    "autoscaling.minNodeCount": "limits are totals, which do not multiply by the zones",
    "autoscaling.maxNodeCount": "limits are totals, which do not multiply by the zones",
    "autoscaling.totalMinNodeCount": "limits are totals, which do not multiply by the zones",
    "autoscaling.totalMaxNodeCount": "limits are totals, which do not multiply by the zones",
}
"""Where our bodies differ from gcloud's, and why that is better."""

RECORDED: dict[str, set[str]] = {
    "a100-40-mig-1g5gb": {
        "config.accelerators.0.gpuDriverInstallationConfig",
        "config.metadata",
        "config.resourceLabels",
        "config.taints",
    },
    "a100-40-frac-10": {
        "config.accelerators.0.gpuDriverInstallationConfig",
        "config.metadata",
        "config.resourceLabels",
        "config.taints",
    },
    "l4-mps-8": {
        "config.metadata",
        "config.resourceLabels",
        "config.taints",
        "autoscaling.minNodeCount",
        "autoscaling.maxNodeCount",
        "autoscaling.totalMinNodeCount",
        "autoscaling.totalMaxNodeCount",
    },
}
"""Recording (and golden case of the same name) -> the paths in which they differ."""


def read(path: Path) -> Json:
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def made(case: Json) -> Json:
    facts = ClusterFacts(**case["facts"]) if "facts" in case else None
    (resource,) = gke.desired(pool(case["name"], **case["spec"]), facts)
    return resource.body


@pytest.mark.parametrize("path", CASES, ids=names)
def test_body(path: Path) -> None:
    case = read(path)
    assert made(case) == case["body"]


@pytest.mark.parametrize("path", CASES, ids=names)
def test_google_has_these_fields(path: Path) -> None:
    """Parsed strictly, and printed again but for the zeros that proto JSON leaves out."""
    body = read(path)["body"]
    message = json_format.ParseDict(body, cluster_service.NodePool.pb(cluster_service.NodePool()))
    assert without_zeros(json_format.MessageToDict(message)) == without_zeros(body)


def without_zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_zeros(one) for key, one in value.items() if one not in (0, False, "", [])}
    return [without_zeros(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", RECORDED)
def test_as_gcloud_but_for(name: str) -> None:
    """The recorded body differs in the paths that are written down, and in no other."""
    recorded = read(WIRE / f"{name}.json")["nodePool"]
    assert set(unlike(recorded, read(FOLDER / f"{name}.json")["body"])) == RECORDED[name]


def test_every_recording_is_compared_and_every_difference_explained() -> None:
    creates = {path.stem for path in WIRE.glob("*.json") if "nodePool" in read(path)}
    assert creates == set(RECORDED)
    assert set().union(*RECORDED.values()) == set(DIFFERENCES)
    assert all(DIFFERENCES.values())


def unlike(one: Any, other: Any, path: str = "") -> list[str]:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = (dict(enumerate(value)) for value in (one, other))
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return [] if one == other else [path]
    keys = dict.fromkeys((*one, *other))
    return [step for key in keys for step in unlike(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))]


FORMS = [("mig-spot-zones", form) for form in gke.FORMS] + [("everything", form) for form in gke.FORMS]
SUFFIX = {Form.GCLOUD: "gcloud.sh", Form.TERRAFORM: "tf"}


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{name}-{form}" for name, form in FORMS])
def test_form(name: str, form: Form) -> None:
    text = rendered(name, form)
    assert text == (FOLDER / f"{name}.{SUFFIX[form]}").read_text(encoding="utf-8")


def rendered(name: str, form: Form) -> str:
    case = read(FOLDER / f"{name}.json")
    of = pool(case["name"], **case["spec"])
    return gke.render(form, gke.desired(of, None), of)[0]


@pytest.mark.parametrize("form", list(gke.FORMS))
@pytest.mark.parametrize("path", CASES, ids=names)
def test_a_form_says_every_value_of_its_body(path: Path, form: Form) -> None:
    """Every word and number of the body is in the text, or is one that the form has another word for."""
    case = read(path)
    of = pool(case["name"], **case["spec"])
    text, _ = gke.render(form, gke.desired(of, None), of)
    (resource,) = gke.desired(of, None)
    missing = [value for value in leaves(resource.body) if value.lower().replace("_", "-") not in plain(text)]
    assert [value for value in missing if value not in OTHER_WORDS[form]] == []


OTHER_WORDS = {
    Form.GCLOUD: {
        "INSTALLATION_DISABLED",
        "SPECIFIC_RESERVATION",
        "compute.googleapis.com/reservation-name",
        "PREFER_NO_SCHEDULE",
        "NO_SCHEDULE",
        "NO_EXECUTE",
        *SCOPES,
    },
    Form.TERRAFORM: set[str](),
}


def plain(text: str) -> str:
    return text.lower().replace("_", "-")


def leaves(value: Any) -> list[str]:
    """Every text and number; truth values are told by flags."""
    if isinstance(value, dict):
        return [leaf for key, one in value.items() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [] if isinstance(value, bool) else [str(value)]


def write() -> None:
    for path in CASES:
        case = read(path)
        case["body"] = made(case)
        path.write_text(json.dumps(case, indent=2) + "\n", encoding="utf-8")
    for name, form in FORMS:
        (FOLDER / f"{name}.{SUFFIX[form]}").write_text(rendered(name, form), encoding="utf-8")


if __name__ == "__main__":
    write()
