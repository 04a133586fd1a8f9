"""An agent pool as the az command or the Terraform resource that makes it; what they cannot say is a note."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.errors import Finding, Invalid
from fracgpu.plan import Resource
from fracgpu.providers import Form
from fracgpu.providers.aks.form_az import az
from fracgpu.providers.aks.form_terraform import terraform
from fracgpu.resolve import ResolvedPool


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The text and its notes. Raises Invalid for a form that AKS has not."""
    body = resources[-1].body
    if form is Form.AZ:
        return az(body, pool)
    if form is Form.TERRAFORM:
        return terraform(body, pool)
    raise Invalid.one(
        "not-expressible",
        f"{form} makes no node pools of AKS",
        field="--as",
        nearest=(Form.AZ.value, Form.TERRAFORM.value),
        hint="--as az or --as terraform",
    )
