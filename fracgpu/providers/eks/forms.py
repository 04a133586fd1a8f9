"""A node group as commands of the AWS CLI, or for eksctl, Karpenter or Terraform; what they cannot say is a note."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form
from fracgpu.providers.eks.form_aws import aws
from fracgpu.providers.eks.form_eksctl import eksctl
from fracgpu.providers.eks.form_karpenter import karpenter
from fracgpu.providers.eks.form_terraform import terraform
from fracgpu.providers.rendering import renderer_of
from fracgpu.resolve import ResolvedPool

_RENDER = {Form.AWS: aws, Form.EKSCTL: eksctl, Form.KARPENTER: karpenter, Form.TERRAFORM: terraform}


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The text and its notes. Raises Invalid for a form that EKS has not."""
    return renderer_of(form, _RENDER, "EKS")(resources, pool)
