"""An agent pool as the az command or the Terraform resource that makes it; what they cannot say is a note."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form
from fracgpu.providers.aks.form_az import az
from fracgpu.providers.aks.form_terraform import terraform
from fracgpu.providers.rendering import renderer_of
from fracgpu.resolve import ResolvedPool

_RENDER = {Form.AZ: az, Form.TERRAFORM: terraform}


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The text and its notes. Raises Invalid for a form that AKS has not."""
    return renderer_of(form, _RENDER, "AKS")(resources[-1].body, pool)
