"""Who am I, may I, and a token please: everybody may everything here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fracgpu.sandbox.environment import DUMMY_TOKEN
from fracgpu.sandbox.kubernetes.request import Target
from fracgpu.sandbox.world import Json

_ALLOWED = {"allowed": True, "reason": "the sandbox allows everything"}
_USER = {"userInfo": {"username": "sandbox", "groups": ["system:masters", "system:authenticated"]}}
_RULES = {
    "incomplete": False,
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
_ANSWERS: dict[str, Json] = {"selfsubjectreviews": _USER, "selfsubjectrulesreviews": _RULES}


def review(target: Target, body: Json) -> Json:
    """The answer to a review, which is the question with its status."""
    head = {"apiVersion": target.resource.api_version, "kind": target.resource.kind, "metadata": {}}
    return {**head, **body, "status": _ANSWERS.get(target.resource.plural, _ALLOWED)}


def token(body: Json) -> Json:
    """A TokenRequest with the one token that there is."""
    spec = {"audiences": [], "expirationSeconds": 3600, **(body.get("spec") or {})}
    ends = datetime.now(UTC) + timedelta(seconds=spec["expirationSeconds"])
    status = {"token": DUMMY_TOKEN, "expirationTimestamp": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}
    head = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}}
    return {**head, "spec": spec, "status": status}
