"""Launch templates as EC2 keeps them, on moto's objects.

moto answers for launch templates, but where it differs from EC2 a client would learn the wrong thing: it ignores
ClientToken and SourceVersion, cuts lists off at 15 without a NextToken, puts the template's own tags into its data,
and calls a name that is not there a missing parameter.
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from weakref import WeakKeyDictionary

from moto.core.types import Base64EncodedString
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion

USER_DATA_LIMIT = 16 * 1024
_highest: WeakKeyDictionary[LaunchTemplate, int] = WeakKeyDictionary()
"""The highest number that a template ever gave, of those that lost versions: EC2 gives no number twice."""

_NAME = re.compile(r"[A-Za-z0-9()./_-]{3,128}")


def create(ec2: Any, name: str, description: str, data: dict[str, Any], tags: dict[str, Any]) -> LaunchTemplate:
    """A new template with one version. Raises EC2ClientError where the name is taken or the data is not valid."""
    if not _NAME.fullmatch(name or ""):
        raise EC2ClientError(
            "InvalidLaunchTemplateName.MalformedException",
            "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the "
            "following characters: - ( ) . / _.",
        )
    made: LaunchTemplate = ec2.create_launch_template(name, description, _checked(data), tags)
    return made


def add_version(
    template: LaunchTemplate, description: str, data: dict[str, Any], source: str | None
) -> LaunchTemplateVersion:
    """A new version; with `source`, what the data does not say is taken from that version."""
    base = dict(find_version(template, source).data) if source else {}
    version = LaunchTemplateVersion(template, _next(template), {**base, **_checked(data)}, description)
    template.versions.append(version)
    return version


def find(ec2: Any, name: str | None, template_id: str | None) -> LaunchTemplate:
    """The template of that name or id. Raises EC2ClientError."""
    if name and template_id:
        raise EC2ClientError(
            "InvalidParameterCombination",
            "Either provide launch template ID or launch template name in the request.",
        )
    if not name and not template_id:
        raise EC2ClientError(
            "MissingParameter", "Either a launch template ID or a launch template name must be specified in the request"
        )
    found: LaunchTemplate | None = ec2.launch_templates.get(template_id or ec2.launch_template_name_to_ids.get(name))
    if found is not None:
        return found
    if name:
        raise EC2ClientError(
            "InvalidLaunchTemplateName.NotFoundException",
            f"The specified launch template, with template name {name}, does not exist.",
        )
    raise EC2ClientError(
        "InvalidLaunchTemplateId.NotFound",
        f"The specified launch template, with template ID {template_id}, does not exist.",
    )


def find_version(template: LaunchTemplate, version: str) -> LaunchTemplateVersion:
    """That version (`$Latest`, `$Default` or a number). Raises EC2ClientError."""
    wanted = {"$latest": template.versions[-1].number, "$default": template.default_version_number}
    number = wanted.get(str(version).lower(), version)
    for row in template.versions:
        if str(row.number) == str(number):
            return row
    raise EC2ClientError(
        "InvalidLaunchTemplateId.VersionNotFound",
        f"Could not find the specified version {version} for the launch template with ID {template.id}.",
    )


def delete_versions(template: LaunchTemplate, versions: list[str]) -> tuple[list[int], list[tuple[int, str, str]]]:
    """(numbers that are gone, (number, code, text) of those that stay: the default one and those that never were)."""
    gone: list[int] = []
    kept: list[tuple[int, str, str]] = []
    _highest[template] = max(_highest.get(template, 0), template.versions[-1].number)
    for wanted in versions:
        try:
            row = find_version(template, wanted)
        except EC2ClientError as missing:
            kept.append((int(wanted) if wanted.isdigit() else 0, "launchTemplateVersionDoesNotExist", missing.message))
            continue
        if row.number == template.default_version_number:
            kept.append((row.number, "unexpectedError", "Could not delete the default version of a launch template"))
            continue
        template.versions.remove(row)
        gone.append(row.number)
    return gone, kept


def page(rows: list[Any], limit: int | None, token: str | None) -> tuple[list[Any], str | None]:
    """One page of at most `limit` (200) rows and the token of the next page."""
    try:
        start = int(base64.b64decode(token).decode()) if token else 0
    except ValueError as error:
        raise EC2ClientError("InvalidNextToken", "The specified value for NextToken is not valid.") from error
    end = start + min(limit or 200, 200)
    return rows[start:end], base64.b64encode(str(end).encode()).decode() if end < len(rows) else None


def _next(template: LaunchTemplate) -> int:
    return max(_highest.get(template, 0), template.versions[-1].number) + 1


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    if not data:
        raise EC2ClientError("MissingParameter", "The request must contain the parameter LaunchTemplateData")
    if data.get("UserData") is None:
        return data
    try:
        raw = base64.b64decode(str(data["UserData"]), validate=True)
    except binascii.Error as error:
        raise EC2ClientError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from error
    if len(raw) > USER_DATA_LIMIT:
        raise EC2ClientError("InvalidParameterValue", f"User data is limited to {USER_DATA_LIMIT} bytes")
    return {**data, "UserData": Base64EncodedString(str(data["UserData"]))}
