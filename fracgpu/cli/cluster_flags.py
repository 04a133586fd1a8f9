"""The flags that name a cluster, for commands that take the name of an existing pool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from fracgpu.cli.choices import ContextYesOption
from fracgpu.cli.flags import WHERE, SpecFlags

if TYPE_CHECKING:
    from fracgpu.spec import Cluster

NAMES = WHERE


@dataclass(slots=True)
class ClusterFlags:
    provider: str | None = None
    cluster: str | None = None
    resource_group: str | None = None
    subscription: str | None = None
    project: str | None = None
    location: str | None = None
    region: str | None = None
    yes: bool = False

    def spec(self) -> Cluster:
        """The cluster as the flags name it; empty where none was given. Raises Invalid."""
        from fracgpu.cli.spec_of import validated

        said = {
            "provider": self.provider,
            "name": self.cluster,
            "resourceGroup": self.resource_group,
            "subscription": self.subscription,
            "project": self.project,
            "location": self.location,
            "region": self.region,
        }
        given = {key: value for key, value in said.items() if value is not None}
        return validated({"spec": {"cluster": given}}).spec.cluster


def with_cluster_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the cluster flags and --yes: its parameter `cluster` is filled with ClusterFlags."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.name != "cluster"]
    hints = inspect.get_annotations(SpecFlags, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    extra = [inspect.Parameter(name, keyword, default=None, annotation=hints[name]) for name in NAMES]
    if not any(one.name == "yes" for one in own):
        extra.append(inspect.Parameter("yes", keyword, default=False, annotation=ContextYesOption))
    taken = [one.name for one in extra]

    @wraps(command)
    def run(**given: Any) -> Any:
        flags = ClusterFlags(**{name: given.pop(name) for name in taken})
        return command(cluster=flags, **given)

    own = [one.replace(kind=keyword) for one in own]
    run.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own, *extra)}
    return run
