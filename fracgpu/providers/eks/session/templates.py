"""Launch templates of fracgpu's own: made, given new versions, found again and deleted, never anyone else's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fracgpu.differences import same
from fracgpu.errors import Finding, NotOurs
from fracgpu.plan import Json, Resource
from fracgpu.providers.eks.compare import settled
from fracgpu.providers.eks.foreign_template import check
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, template_name, template_tags
from fracgpu.providers.eks.session.calls import Refused, ask, every
from fracgpu.providers.eks.session.door import Door
from fracgpu.providers.eks.template import USER_DATA, decode
from fracgpu.resolve import ResolvedPool

_MISSING = ("InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound")
_TAKEN = "InvalidLaunchTemplateName.AlreadyExistsException"

AT_MOST = 200
"""Versions in one call: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteLaunchTemplateVersions.html"""


def _naming(said: Json) -> Json:
    """By name, else by id: EC2 takes one of them."""
    return {"LaunchTemplateName": said["name"]} if said.get("name") else {"LaunchTemplateId": said["id"]}


class Templates:
    """The launch templates of one cluster's pools. Calls raise Refused and our own errors."""

    def __init__(self, door: Door) -> None:
        self._door = door

    @property
    def _ec2(self) -> Any:
        return self._door.client("ec2")

    def observe(self, group: Json) -> Resource | None:
        """The group's own template in the version that it has; None where it has none of ours."""
        said: Json = group.get("launchTemplate") or {}
        pool = group["nodegroupName"]
        name = template_name(self._door.cluster.name, pool)
        if said.get("name") != name:
            return None
        return self.find(pool, str(said.get("version") or "$Default"))

    def find(self, pool: str, version: str = "$Latest") -> Resource | None:
        """The template that is the pool's own by name and tags, whether the pool is there or not."""
        name = template_name(self._door.cluster.name, pool)
        found = self._find(name)
        if found is None or not self._is_own(found, pool):
            return None
        data = self._data(name, version)
        return None if data is None else self._resource(name, pool, data, found.get("Tags") or [])

    def foreign(self, group: Json) -> Resource | None:
        """The template of somebody else's that a group is made with, in its version; None where there is none, and
        where it may not be read."""
        said: Json = group.get("launchTemplate") or {}
        pool = group["nodegroupName"]
        if not said:
            return None
        try:
            data = self._data_of(_naming(said), str(said.get("version") or "$Default"))
        except Refused:
            return None
        return self._resource(said.get("name") or said["id"], pool, data, []) if data is not None else None

    def check(self, pool: ResolvedPool) -> list[Finding]:
        """What the pool's template, one of the user's own, says otherwise than the pool."""
        said = pool.eks.launch_template
        if said is None:
            return []
        name, version = said.name or said.id or "", said.version or "$Default"
        data = self._data_of(_naming({"name": said.name, "id": said.id}), version)
        if data is None:
            message = f"there is no launch template {name} with a version {version} in {self._door.cluster.region}"
            hint = "aws ec2 describe-launch-template-versions --launch-template-name NAME"
            return [Finding("invalid-value", message, field="spec.eks.launchTemplate", hint=hint)]
        return list(check(pool, name, data))

    def create(self, body: Json, pool: str) -> None:
        """Make the template; where an earlier run left one behind, give it a new version unless it has this content.

        Raises NotOurs where the name is another's.
        """
        try:
            ask(self._ec2, "create_launch_template", **body)
        except Refused as refused:
            if refused.said.code != _TAKEN:
                raise
            self.update(body, pool)

    def update(self, body: Json, pool: str) -> None:
        """Make a new version, unless the newest has this content already. Raises NotOurs."""
        name = body["LaunchTemplateName"]
        found = self._find(name)
        if found is None:
            ask(self._ec2, "create_launch_template", **body)
            return
        if not self._is_own(found, pool):
            message = f"there is a launch template {name} that is not this pool's"
            raise NotOurs(message, hint="choose another name for the pool, or delete the template")
        newest = self._data(name, "$Latest")
        if newest is not None and self._equal(newest, body, pool):
            return
        ask(
            self._ec2,
            "create_launch_template_version",
            LaunchTemplateName=name,
            LaunchTemplateData=body["LaunchTemplateData"],
        )

    def latest(self, name: str) -> int | None:
        """The newest version's number; None where there is no such template."""
        found = self._find(name)
        return int(found["LatestVersionNumber"]) if found else None

    def delete(self, pool: str) -> bool:
        """Delete the pool's template where its name and its three tags say that it is ours; whether it was there."""
        name = template_name(self._door.cluster.name, pool)
        found = self._find(name)
        if found is None or not self._is_own(found, pool):
            return False
        try:
            ask(self._ec2, "delete_launch_template", LaunchTemplateId=found["LaunchTemplateId"])
        except Refused as refused:
            if refused.said.code not in _MISSING:
                raise
        return True

    def sweep(self, group: Json) -> None:
        """Delete the versions that a rolling update left behind, of the group's own template: all but the one in use,
        the one before it, which a step back would want, newer ones, and the default, which EC2 does not delete."""
        said: Json = group.get("launchTemplate") or {}
        pool = group["nodegroupName"]
        name = template_name(self._door.cluster.name, pool)
        found = self._find(name) if said.get("name") == name else None
        if found is None or not self._is_own(found, pool) or not str(said.get("version")).isdigit():
            return
        rows = every(self._ec2, "describe_launch_template_versions", "LaunchTemplateVersions", LaunchTemplateName=name)
        older = sorted(row["VersionNumber"] for row in rows if row["VersionNumber"] < int(said["version"]))
        left = [str(number) for number in older[:-1] if number != found["DefaultVersionNumber"]]
        if left:
            ask(self._ec2, "delete_launch_template_versions", LaunchTemplateName=name, Versions=left[:AT_MOST])

    def _find(self, name: str) -> Json | None:
        try:
            answer = ask(self._ec2, "describe_launch_templates", LaunchTemplateNames=[name])
        except Refused as refused:
            if refused.said.code in _MISSING:
                return None
            raise
        return next(iter(answer.get("LaunchTemplates") or ()), None)

    def _data(self, name: str, version: str) -> Json | None:
        return self._data_of({"LaunchTemplateName": name}, version)

    def _data_of(self, naming: Json, version: str) -> Json | None:
        try:
            answer = ask(self._ec2, "describe_launch_template_versions", **naming, Versions=[version])
        except Refused as refused:
            if refused.said.code in (*_MISSING, "InvalidLaunchTemplateId.VersionNotFound"):
                return None
            raise
        rows = answer.get("LaunchTemplateVersions") or [{}]
        data: Json | None = rows[0].get("LaunchTemplateData")
        return data

    def _is_own(self, found: Json, pool: str) -> bool:
        tags: Mapping[str, str] = {tag["Key"]: tag["Value"] for tag in found.get("Tags") or ()}
        return template_tags(self._door.cluster.name, pool).items() <= tags.items()

    def _equal(self, data: Json, body: Json, pool: str) -> bool:
        name = body["LaunchTemplateName"]
        have = settled(self._resource(name, pool, data, [])).body["LaunchTemplateData"]
        return same(have, body["LaunchTemplateData"])

    def _resource(self, name: str, pool: str, data: Json, tags: list[Json]) -> Resource:
        body: Json = {
            "LaunchTemplateName": name,
            "LaunchTemplateData": data,
            "TagSpecifications": [{"ResourceType": "launch-template", "Tags": tags}],
        }
        text = decode(data.get("UserData"))
        decoded = {USER_DATA: text} if text else {}
        return Resource(LAUNCH_TEMPLATE, name, pool, self._door.cluster, body, decoded)
