"""EC2's query API: moto's, with launch templates and offerings answered as EC2 answers them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion
from moto.ec2.responses import EC2Response

from fracgpu.sandbox.aws import templates
from fracgpu.sandbox.aws.offerings import all_offerings
from fracgpu.sandbox.world import Json

Answered = dict[tuple[str, str, str], tuple[str, str, int]]
"""(region, action, client token) -> (fingerprint of the request, template id, version): what was answered before."""


def ec2_responses(settings: Json, answered: Answered) -> type[EC2Response]:
    """The class that answers EC2 calls of one account; moto makes an instance of it for each call."""
    return type("Ec2", (_Ec2,), {"settings": settings, "answered": answered})


class _Ec2(EC2Response):
    settings: Json
    answered: Answered

    def create_launch_template(self) -> ActionResult:
        name, tags = self._get_param("LaunchTemplateName"), self._parse_tag_specification("launch-template")
        self.error_on_dryrun()
        template, _ = self._once(lambda: self._created(name, tags))
        return ActionResult({"LaunchTemplate": self._template(template)})

    def create_launch_template_version(self) -> ActionResult:
        template = self._named()
        self.error_on_dryrun()
        _, version = self._once(lambda: (template, self._added(template)))
        return ActionResult({"LaunchTemplateVersion": self._version(template, version)})

    def describe_launch_templates(self) -> ActionResult:
        names, ids = self._get_param("LaunchTemplateNames", []), self._get_param("LaunchTemplateIds", [])
        self.error_on_dryrun()
        named = [templates.find(self.ec2_backend, name, None) for name in names]
        chosen = named + [templates.find(self.ec2_backend, None, template_id) for template_id in ids]
        ids = [template.id for template in chosen] or None
        rows = self.ec2_backend.describe_launch_templates(template_ids=ids, filters=self._filters_from_querystring())
        rows, token = self._page(rows)
        return ActionResult({"LaunchTemplates": [self._template(row) for row in rows], "NextToken": token})

    def describe_launch_template_versions(self) -> ActionResult:
        wanted = self._get_param("Versions", [])
        self.error_on_dryrun()
        if not self._get_param("LaunchTemplateName") and not self._get_param("LaunchTemplateId"):
            return super().describe_launch_template_versions()
        template = self._named()
        rows = [templates.find_version(template, version) for version in wanted] or list(reversed(template.versions))
        low, high = self._get_int_param("MinVersion", 0), self._get_int_param("MaxVersion", 1 << 31)
        rows, token = self._page([row for row in rows if low <= row.number <= high])
        versions = [self._version(template, row) for row in rows]
        return ActionResult({"LaunchTemplateVersions": versions, "NextToken": token})

    def modify_launch_template(self) -> ActionResult:
        template = self._named()
        version = templates.find_version(template, self._get_param("DefaultVersion") or self._get_param("SetDefault"))
        self.error_on_dryrun()
        template.default_version_number = version.number
        return ActionResult({"LaunchTemplate": self._template(template)})

    def delete_launch_template(self) -> ActionResult:
        template = self._named()
        self.error_on_dryrun()
        self.ec2_backend.delete_launch_template(template.name, None)
        return ActionResult({"LaunchTemplate": self._template(template)})

    def delete_launch_template_versions(self) -> ActionResult:
        template = self._named()
        self.error_on_dryrun()
        gone, kept = templates.delete_versions(template, self._get_param("Versions", []))
        names = {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name}
        errors = [
            {**names, "VersionNumber": number, "ResponseError": {"Code": code, "Message": text}}
            for number, code, text in kept
        ]
        done = [{**names, "VersionNumber": number} for number in gone]
        return ActionResult(
            {
                "SuccessfullyDeletedLaunchTemplateVersions": done,
                "UnsuccessfullyDeletedLaunchTemplateVersions": errors,
            }
        )

    def describe_instance_type_offerings(self) -> ActionResult:
        kind = self._get_param("LocationType") or "region"
        filters: dict[str, Any] = dict(self._filters_from_querystring())
        for name in set(filters) - {"instance-type", "location"}:
            raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
        rows = [
            {"InstanceType": machine, "LocationType": kind, "Location": location}
            for machine, location in all_offerings(self.settings, self.region, kind)
            if _matches(machine, filters.get("instance-type")) and _matches(location, filters.get("location"))
        ]
        return ActionResult({"InstanceTypeOfferings": rows})

    def _created(self, name: str, tags: dict[str, Any]) -> tuple[LaunchTemplate, LaunchTemplateVersion]:
        data, description = self._get_param("LaunchTemplateData", {}), self._get_param("VersionDescription")
        template = templates.create(self.ec2_backend, name, description, data, tags)
        return template, template.versions[0]

    def _added(self, template: LaunchTemplate) -> LaunchTemplateVersion:
        data, description = self._get_param("LaunchTemplateData", {}), self._get_param("VersionDescription")
        return templates.add_version(template, description, data, self._get_param("SourceVersion"))

    def _once(self, make: Any) -> tuple[LaunchTemplate, LaunchTemplateVersion]:
        """Do it, or answer again what was answered to the same ClientToken before.

        https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
        """
        token = self._get_param("ClientToken")
        key = (self.region, str(self._get_action()), str(token))
        asked = hashlib.sha256(json.dumps(self._get_params(), sort_keys=True, default=str).encode()).hexdigest()
        if token and key in self.answered:
            fingerprint, template_id, number = self.answered[key]
            template = self.ec2_backend.launch_templates.get(template_id)
            if template is not None:
                if fingerprint != asked:
                    raise EC2ClientError(
                        "IdempotentParameterMismatch",
                        f"The client token {token} was used before with other parameters.",
                    )
                return template, templates.find_version(template, str(number))
        template, version = make()
        if token:
            self.answered[key] = (asked, template.id, version.number)
        return template, version

    def _named(self) -> LaunchTemplate:
        return templates.find(
            self.ec2_backend, self._get_param("LaunchTemplateName"), self._get_param("LaunchTemplateId")
        )

    def _page(self, rows: list[Any]) -> tuple[list[Any], str | None]:
        return templates.page(rows, self._get_int_param("MaxResults"), self._get_param("NextToken"))

    def _template(self, template: LaunchTemplate) -> dict[str, Any]:
        return {
            "CreateTime": template.create_time,
            "CreatedBy": f"arn:{self.partition}:iam::{self.current_account}:root",
            "DefaultVersionNumber": template.default_version_number,
            "LatestVersionNumber": template.versions[-1].number,
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "Tags": template.get_tags(),
        }

    def _version(self, template: LaunchTemplate, version: LaunchTemplateVersion) -> dict[str, Any]:
        return {
            "CreateTime": version.create_time,
            "CreatedBy": f"arn:{self.partition}:iam::{self.current_account}:root",
            "DefaultVersion": version.number == template.default_version_number,
            "LaunchTemplateData": version.data,
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "VersionDescription": version.description,
            "VersionNumber": version.number,
        }


def _matches(value: str, patterns: list[str] | None) -> bool:
    from fnmatch import fnmatchcase

    return patterns is None or any(fnmatchcase(value, pattern) for pattern in patterns)
