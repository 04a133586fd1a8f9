"""What is asked of a cluster's API, as plain JSON.

Reads are tried again after a lost connection or an overloaded server; what is written is applied server-side, which
may be repeated without harm.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from lightkube import operators
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.authentication_v1 import SelfSubjectReview
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview
from lightkube.resources.core_v1 import ConfigMap, Node, Pod, PodEviction

from fracgpu.errors import NotFound, Throttled, Unreachable
from fracgpu.kube.access import KubeAccess
from fracgpu.kube.kubeconfig import login_of
from fracgpu.kube.plugin import MANAGER
from fracgpu.kube.session.connection import PATIENT, Patience, client, shown
from fracgpu.kube.session.failures import translated
from fracgpu.plan import Json

T = TypeVar("T")
PAUSE = 0.5
"""Seconds before the second try; twice as long before the next."""
EVERYWHERE = "*"


class Kube:
    """A connection to one cluster, as plain JSON. A context manager; raises our errors alone."""

    def __init__(self, access: KubeAccess, patience: Patience = PATIENT) -> None:
        self.server = shown(access.server)
        self._patience = patience
        login = login_of(access)
        with translated(self.server):
            self._client = client(login, patience)

    def __enter__(self) -> Kube:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def nodes(self, labels: Mapping[str, str]) -> list[Json]:
        """The nodes that carry all these labels."""
        return self._read(lambda: [_object(node) for node in self._client.list(Node, labels=dict(labels))])

    def nodes_with(self, label: str) -> list[Json]:
        """The nodes that carry the label, whatever its value."""
        return self._read(
            lambda: [_object(node) for node in self._client.list(Node, labels={label: operators.exists()})]
        )

    def pods(self) -> list[Json]:
        """All pods of the cluster."""
        return self._read(lambda: [_object(pod) for pod in self._client.list(Pod, namespace=EVERYWHERE)])

    def pods_on(self, node: str) -> list[Json]:
        """All pods of one node."""
        fields = {"spec.nodeName": node}
        return self._read(
            lambda: [_object(pod) for pod in self._client.list(Pod, namespace=EVERYWHERE, fields=dict(fields))]
        )

    def daemon_sets(self) -> list[Json]:
        return self._read(lambda: [_object(one) for one in self._client.list(DaemonSet, namespace=EVERYWHERE)])

    def config_maps(self, namespaces: Iterable[str]) -> list[Json]:
        """The ConfigMaps of these namespaces."""
        return [one for place in sorted(set(namespaces)) for one in self._config_maps(place)]

    def _config_maps(self, namespace: str) -> list[Json]:
        return self._read(lambda: [_object(one) for one in self._client.list(ConfigMap, namespace=namespace)])

    def config_map(self, namespace: str, name: str) -> Json | None:
        """The ConfigMap; None where there is none of that name."""
        try:
            return self._read(lambda: _object(self._client.get(ConfigMap, name, namespace=namespace)))
        except NotFound:
            return None

    def apply_config_map(self, manifest: Json, *, dry_run: bool = False) -> Json:
        """Apply it server-side as field manager `fracgpu`. Raises NotOurs where another manager owns a field that
        would change, NotFound where the namespace is missing."""
        wanted = ConfigMap.from_dict(manifest)
        assert isinstance(wanted, ConfigMap)
        return self._read(lambda: _object(self._client.apply(wanted, field_manager=MANAGER, dry_run=dry_run)))

    def cordon(self, node: str, *, on: bool) -> None:
        """Let no further pod onto a node, or let them again. A node that is gone is no error."""
        with contextlib.suppress(NotFound):
            self._read(lambda: self._client.patch(Node, node, {"spec": {"unschedulable": on}}))

    def evict(self, namespace: str, pod: str) -> str | None:
        """Ask for a pod to be moved away. Returns what forbids it for now, such as a PodDisruptionBudget by name; None
        where it goes or is gone."""
        eviction = PodEviction(metadata=ObjectMeta(name=pod, namespace=namespace))
        try:
            with translated(self.server):
                self._client.create(eviction, pod, namespace=namespace)
        except NotFound:
            return None
        except Throttled as error:
            return error.message
        return None

    def whoami(self) -> str | None:
        """Whom the cluster takes the caller for; None where it is older than Kubernetes 1.28 and does not say."""
        try:
            answer = self._read(lambda: _json(self._client.create(SelfSubjectReview())))
        except NotFound:
            return None
        return ((answer.get("status") or {}).get("userInfo") or {}).get("username")

    def allowed(self, verb: str, resource: str, namespace: str | None = None) -> bool:
        """Whether whoever is signed in may do this. Resources as `kubectl auth can-i` takes them: `daemonsets.apps`,
        `pods/eviction`."""
        name, _, below = resource.partition("/")
        plural, _, group = name.partition(".")
        asked = ResourceAttributes(
            verb=verb, resource=plural, group=group or None, subresource=below or None, namespace=namespace
        )
        review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=asked))
        answer = self._read(lambda: _json(self._client.create(review)))
        return bool((answer.get("status") or {}).get("allowed"))

    def _read(self, call: Callable[[], T]) -> T:
        for attempt in range(1, self._patience.tries + 1):
            try:
                with translated(self.server):
                    return call()
            except (Unreachable, Throttled) as error:
                if attempt == self._patience.tries:
                    raise
                time.sleep(getattr(error, "retry_after", None) or PAUSE * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")


def _json(thing: Any) -> Json:
    body: Json = thing.to_dict()
    return body


def _object(thing: Any) -> Json:
    """An object that has a name, as all have that are read. Raises what the client raises of other nonsense."""
    body = _json(thing)
    if not (body.get("metadata") or {}).get("name"):
        raise msgspec.ValidationError("an object without a name")
    return body
