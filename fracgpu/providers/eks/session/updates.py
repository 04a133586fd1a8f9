"""Updates of node groups: begun, found again, and carried on where one takes several calls.

EKS has a call for the sizes, labels and taints and another for the nodes themselves, and runs one at a time. The first
is begun at once, what is left is in the operation's token, and `watch` begins it when the first has ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fracgpu.errors import Busy, FracgpuError, NotFound, Unreachable
from fracgpu.plan import Change, Json
from fracgpu.providers import Operation, Phase, Progress
from fracgpu.providers.eks.compare import settled
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.session.calls import Refused, ask, every
from fracgpu.providers.eks.session.door import Door
from fracgpu.providers.eks.session.templates import Templates
from fracgpu.providers.eks.status import group_resource, status, update_progress
from fracgpu.providers.eks.steps import config_request, tag_step, version_request


@dataclass(frozen=True, slots=True)
class Begun:
    """An update that is under way: its id, and the request that is to follow it."""

    id: str
    token: str | None = None


class Updates:
    """The updates of one cluster's groups. `describe` gives a group as EKS tells it now, None where there is none."""

    def __init__(self, door: Door, templates: Templates, describe: Callable[[str], Json | None]) -> None:
        self._door = door
        self._templates = templates
        self._describe = describe
        self._begun: dict[str, str] = {}
        """The first update of an operation -> the one that it has come to."""

    @property
    def _eks(self) -> Any:
        return self._door.client("eks")

    def _named(self, pool: str) -> Json:
        return {"clusterName": self._door.cluster.name, "nodegroupName": pool}

    def begin(self, change: Change) -> Begun | None:
        """Tags at once, then the first update that is left; None where none is. Raises NotFound, Busy."""
        group = self._describe(change.name)
        if group is None or change.after is None:
            raise NotFound(f"the cluster has no node group {change.name}", hint="fracgpu pool list --all")
        self._tag(group, change.after)
        size = any(one.path[:2] == ("scalingConfig", "desiredSize") for one in change.fields)
        now = settled(group_resource(group, self._door.cluster)).body
        config = config_request(now, change.after, size=size)
        version = version_request(group, change.after, self._newest(change.after))
        if not config and not version:
            return None
        self._check_ready(group)
        if not config:
            return Begun(self._send("version", change.name, version))
        return Begun(self._send("config", change.name, config), json.dumps(version) if version else None)

    def _newest(self, after: Json) -> int | None:
        template: Json = after.get("launchTemplate") or {}
        return self._templates.latest(template["name"]) if template.get("version") == NEW else None

    def _check_ready(self, group: Json) -> None:
        """EKS changes only groups that are ACTIVE (https://github.com/aws/containers-roadmap/issues/2204)."""
        seen = status(group)
        if seen.problem is not None:
            raise seen.problem
        if seen.phase is not Phase.READY:
            name = group["nodegroupName"]
            raise Busy(f"{name} is {seen.phase.value.lower()}", hint="wait for it and try again")

    def _tag(self, group: Json, after: Json) -> None:
        step = tag_step(group, after)
        if step.write:
            ask(self._eks, "tag_resource", resourceArn=group["nodegroupArn"], tags=step.write)
        if step.remove:
            ask(self._eks, "untag_resource", resourceArn=group["nodegroupArn"], tagKeys=list(step.remove))

    def _send(self, kind: str, pool: str, request: Json) -> str:
        """Send an update; its id. Where the answer is lost, the update that it may have begun is looked for."""
        try:
            answer = ask(self._eks, f"update_nodegroup_{kind}", **self._named(pool), **request)
        except Unreachable:
            flying = self.in_flight(pool)
            if not flying:
                raise
            return flying[-1]
        return str(answer["update"]["id"])

    def in_flight(self, pool: str) -> Sequence[str]:
        """Ids of the updates of a group that are under way."""
        members = {"name": self._door.cluster.name, "nodegroupName": pool}
        ids = every(self._eks, "list_updates", "updateIds", **members)
        return [one for one in ids if self._update_of(one, pool).get("status") == "InProgress"]

    def _update_of(self, update_id: str, pool: str) -> Json:
        members = {"name": self._door.cluster.name, "nodegroupName": pool, "updateId": update_id}
        update: Json = ask(self._eks, "describe_update", **members)["update"]
        return update

    def watch(self, operation: Operation, pool: str) -> Progress:
        """One look; begins what follows once what came before has ended. Raises what the update ended in."""
        current = self._begun.get(operation.id, operation.id)
        try:
            seen = update_progress(self._update_of(current, pool), pool)
        except Refused as refused:
            if refused.said.code != "ResourceNotFoundException":
                raise
            return Progress(True, "EKS no longer knows the update")
        if not seen.done:
            return seen
        if operation.token is None or operation.id in self._begun:
            return self._swept(seen, pool)
        return self._go_on(operation, pool, json.loads(operation.token))

    def _go_on(self, operation: Operation, pool: str, request: Json) -> Progress:
        """The second call of an update, unless it has been made: by another process, or by nobody yet."""
        group = self._describe(pool)
        if group is None:
            raise NotFound(f"the node group {pool} is gone", hint="fracgpu pool list")
        template: Json = request.get("launchTemplate") or {}
        have: Json = group.get("launchTemplate") or {}
        if template and str(have.get("version")) == template["version"]:
            return self._swept(Progress(True, "EKS: all changes are made"), pool)
        flying = self.in_flight(pool)
        if flying:
            self._begun[operation.id] = flying[-1]
            return Progress(False, "EKS: replacing the nodes")
        try:
            self._check_ready(group)
            self._begun[operation.id] = self._send("version", pool, request)
        except (Busy, Refused) as error:
            if isinstance(error, Refused) and error.said.code != "ResourceInUseException":
                raise
            return Progress(False, f"waiting to replace the nodes: {error}")
        return Progress(False, "EKS: replacing the nodes")

    def _swept(self, seen: Progress, pool: str) -> Progress:
        """The end of an update, after which older versions of the template are of no use. Where they cannot be deleted
        the update is made all the same, and the next one tries again."""
        group = self._describe(pool)
        if group is None or "launchTemplate" not in group:
            return seen
        try:
            self._templates.sweep(group)
        except (Refused, FracgpuError) as error:
            return replace(seen, message=f"{seen.message}; older versions of the launch template stay: {error}")
        return seen
