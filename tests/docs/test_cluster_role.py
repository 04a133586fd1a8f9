"""The role in the guide lets through what doctor looks for, and what the client calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from fracgpu.operations.doctor import RIGHTS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "verify-and-debug.md"


@pytest.fixture(scope="module")
def role() -> Any:
    text = GUIDE.read_text(encoding="utf-8")
    fences = (part.partition("```")[0] for part in text.split("```yaml\n")[1:])
    bodies = (yaml.safe_load(fence) for fence in fences)
    return next(body for body in bodies if body.get("kind") == "ClusterRole")


def test_kubernetes_takes_it(role: dict[str, Any]) -> None:
    kubernetes_validate.validate(role, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize(("verb", "resource"), [(verb, resource) for verb, resource, _, _ in RIGHTS])
def test_it_lets_through_what_doctor_asks_about(role: dict[str, Any], verb: str, resource: str) -> None:
    plural, _, group = resource.partition(".")
    assert any(
        verb in rule["verbs"] and plural in rule["resources"] and group in rule["apiGroups"] for rule in role["rules"]
    )
