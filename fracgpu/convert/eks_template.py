"""`aws ec2 create-launch-template`: what it sends to EC2, where it stands before the command of its node group.

https://docs.aws.amazon.com/cli/latest/reference/ec2/create-launch-template.html
"""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.convert.flags import Given, Row, Takes, gap, runs, to
from fracgpu.convert.shorthand import structure, structures
from fracgpu.errors import Finding, Invalid, warning
from fracgpu.plan import Json
from fracgpu.spec import MARK_KEYS

COMMAND = ("ec2", "create-launch-template")
KIND = "ec2.launchTemplate"
ROWS: dict[str, Row] = {
    "--region": to("cluster.region"),
    "--launch-template-name": to("eks.launchTemplate"),
    "--launch-template-data": to(
        "sharing", "disk.sizeGb", "eks.diskType", "eks.reservation", "eks.placementGroup", "eks.backend"
    ),
    "--version-description": gap("a description of the template"),
    "--tag-specifications": to("eks.launchTemplate", takes=Takes.MANY),
    "--client-token": runs(),
    "--dry-run": runs(Takes.NOTHING),
    "--output": runs(),
    "--query": runs(),
    "--profile": runs(),
}


def template(given: Given) -> tuple[str, str, Json]:
    """Kind, name and body of the template."""
    name, data = given.text("--launch-template-name"), given.text("--launch-template-data")
    if not name or data is None:
        flag = "--launch-template-data" if name else "--launch-template-name"
        raise Invalid.one("usage", f"aws: {flag} is missing", field=flag, hint=f"{flag} ...")
    body = {"LaunchTemplateName": name, "LaunchTemplateData": structure("--launch-template-data", data)}
    return KIND, name, body


def notes(given: Given) -> Iterator[Finding]:
    """fracgpu tags its templates as its own, and has no word for other tags of them."""
    for row in structures("--tag-specifications", given.words("--tag-specifications")):
        keys = [str(tag.get("Key")) for tag in row.get("Tags", ()) if isinstance(tag, dict)]
        if not all(key in MARK_KEYS for key in keys):
            message = "--tag-specifications: the file form cannot say tags of a template; fracgpu's would have its own"
            yield warning("not-in-file-form", message)
