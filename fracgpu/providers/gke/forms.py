"""A node pool as the gcloud command or the Terraform resource that makes it; what they cannot say is a note."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.errors import Finding, Invalid
from fracgpu.plan import Resource
from fracgpu.providers import Form
from fracgpu.providers.gke.form_gcloud import gcloud
from fracgpu.providers.gke.form_terraform import terraform
from fracgpu.resolve import ResolvedPool


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The text and its notes. Raises Invalid for a form that GKE has not."""
    body = resources[-1].body
    if form is Form.GCLOUD:
        return gcloud(body, pool)
    if form is Form.TERRAFORM:
        return terraform(body, pool)
    raise Invalid.one(
        "not-expressible",
        f"{form} makes no node pools of GKE",
        field="--as",
        nearest=(Form.GCLOUD.value, Form.TERRAFORM.value),
        hint="--as gcloud or --as terraform",
    )
