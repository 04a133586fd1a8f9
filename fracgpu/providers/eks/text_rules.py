"""Options of EKS whose text AWS would refuse for its form, told before anything is made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fracgpu.errors import Finding
from fracgpu.resolve import ResolvedPool

_NODEGROUP = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html"


@dataclass(frozen=True, slots=True)
class Form:
    """What a text of one option has to look like, and an example."""

    pattern: re.Pattern[str]
    what: str
    example: str


ROLE = Form(
    re.compile(r"arn:[\w-]+:iam::\d+:role/[\w+=,.@/-]+"),
    "the ARN of an IAM role",
    "arn:aws:iam::111122223333:role/NAME",
)
SUBNET = Form(re.compile(r"subnet-[\w-]+"), "the id of a subnet", "subnet-0123456789abcdef0")
RESERVATION = Form(
    re.compile(r"cr-[\w-]+|arn:[\w-]+:resource-groups:.+"),
    "the id of a capacity reservation, or the ARN of a resource group of them",
    "cr-0123456789abcdef0",
)
TEMPLATE_ID = Form(re.compile(r"lt-[\w-]+"), "the id of a launch template", "lt-0123456789abcdef0")
TEMPLATE_VERSION = Form(re.compile(r"[1-9]\d*|\$Latest|\$Default"), "a version of a launch template", "3")
PLACEMENT = Form(re.compile(r"[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?"), "the name of a placement group", "gpus")
KUBERNETES = Form(re.compile(r"\d+\.\d+"), "a Kubernetes version of EKS", "1.34")
RELEASE = Form(re.compile(r"\d+\.\d+\.\d+-\S+"), "the release of an image", "1.34.1-20260901")


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about the form of a text."""
    for field, text, form in _texts(pool):
        if text is not None and not form.pattern.fullmatch(text):
            hint = f"{form.what} looks like {form.example}"
            yield Finding("invalid-value", f"{text!r} is not {form.what}", field=field, hint=hint, link=_NODEGROUP)
    subnets = pool.eks.subnets or []
    for index, subnet in enumerate(subnets):
        if subnet in subnets[:index]:
            field = f"spec.eks.subnets[{index}]"
            yield Finding("invalid-value", f"{subnet} stands twice", field=field, hint="leave one out")


def _texts(pool: ResolvedPool) -> Iterator[tuple[str, str | None, Form]]:
    said, template = pool.eks, pool.eks.launch_template
    yield "spec.eks.nodeRole", said.node_role, ROLE
    yield "spec.eks.reservation", said.reservation, RESERVATION
    yield "spec.eks.placementGroup", said.placement_group, PLACEMENT
    yield "spec.eks.version", said.version, KUBERNETES
    yield "spec.eks.releaseVersion", said.release_version, RELEASE
    for index, subnet in enumerate(said.subnets or ()):
        yield f"spec.eks.subnets[{index}]", subnet, SUBNET
    if template is not None:
        yield "spec.eks.launchTemplate.id", template.id, TEMPLATE_ID
        yield "spec.eks.launchTemplate.version", template.version, TEMPLATE_VERSION
