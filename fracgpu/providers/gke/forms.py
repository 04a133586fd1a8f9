"""A node pool as the gcloud command or the Terraform resource that makes it; what they cannot say is a note."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form
from fracgpu.providers.gke.form_gcloud import gcloud
from fracgpu.providers.gke.form_terraform import terraform
from fracgpu.providers.rendering import renderer_of
from fracgpu.resolve import ResolvedPool

_RENDER = {Form.GCLOUD: gcloud, Form.TERRAFORM: terraform}


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The text and its notes. Raises Invalid for a form that GKE has not."""
    return renderer_of(form, _RENDER, "GKE")(resources[-1].body, pool)
