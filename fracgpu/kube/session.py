"""A cluster's Kubernetes API; the only place that imports the Kubernetes client, and the only translation of its
errors.

Reads are tried again after a lost connection or an overloaded server; what is written is applied server-side, which
may be repeated without harm.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from lightkube import ApiError, Client, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.core.exceptions import ConfigError
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.authentication_v1 import SelfSubjectReview
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview
from lightkube.resources.core_v1 import ConfigMap, Node, Pod, PodEviction

from fracgpu.errors import (
    CloudError,
    Conflict,
    Forbidden,
    FracgpuError,
    Invalid,
    NotFound,
    NotOurs,
    NotSignedIn,
    Throttled,
    Unreachable,
)
from fracgpu.kube.access import KubeAccess
from fracgpu.kube.exec_plugin import credentials
from fracgpu.plan import Json

T = TypeVar("T")
FIELD_MANAGER = "fracgpu"
TIMEOUT = 20.0
"""Seconds that one call may take."""
TRIES = 3
PAUSE = 0.5
"""Seconds before the second try; twice as long before the next."""
EVERYWHERE = "*"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Kube:
    """A connection to one cluster, as plain JSON. A context manager; raises our errors alone."""

    def __init__(self, access: KubeAccess) -> None:
        self.server = _shown(access.server)
        with _translated(self.server):
            self._client = _client(access)

    def __enter__(self) -> Kube:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def nodes(self, labels: Mapping[str, str]) -> list[Json]:
        """The nodes that carry all these labels."""
        return self._read(lambda: [_json(node) for node in self._client.list(Node, labels=dict(labels))])

    def pods_on(self, node: str) -> list[Json]:
        """All pods of one node."""
        fields = {"spec.nodeName": node}
        return self._read(
            lambda: [_json(pod) for pod in self._client.list(Pod, namespace=EVERYWHERE, fields=dict(fields))]
        )

    def daemon_sets(self) -> list[Json]:
        return self._read(lambda: [_json(one) for one in self._client.list(DaemonSet, namespace=EVERYWHERE)])

    def config_maps(self, name: str | None = None, namespace: str = EVERYWHERE) -> list[Json]:
        """The ConfigMaps of all namespaces or of one, or those of that name."""
        fields = {"metadata.name": name} if name else {}
        return self._read(
            lambda: [_json(one) for one in self._client.list(ConfigMap, namespace=namespace, fields=dict(fields))]
        )

    def config_map(self, namespace: str, name: str) -> Json | None:
        """The ConfigMap; None where there is none of that name."""
        try:
            return self._read(lambda: _json(self._client.get(ConfigMap, name, namespace=namespace)))
        except NotFound:
            return None

    def apply_config_map(self, manifest: Json, *, dry_run: bool = False) -> Json:
        """Apply it server-side as field manager `fracgpu`. Raises NotOurs where another manager owns a field that
        would change, NotFound where the namespace is missing."""
        wanted = ConfigMap.from_dict(manifest)
        assert isinstance(wanted, ConfigMap)
        return self._read(lambda: _json(self._client.apply(wanted, field_manager=FIELD_MANAGER, dry_run=dry_run)))

    def cordon(self, node: str, *, on: bool) -> None:
        """Let no further pod onto a node, or let them again. A node that is gone is no error."""
        with contextlib.suppress(NotFound):
            self._read(lambda: self._client.patch(Node, node, {"spec": {"unschedulable": on}}))

    def evict(self, namespace: str, pod: str) -> str | None:
        """Ask for a pod to be moved away. Returns what forbids it for now, such as a PodDisruptionBudget by name; None
        where it goes or is gone."""
        eviction = PodEviction(metadata=ObjectMeta(name=pod, namespace=namespace))
        try:
            with _translated(self.server):
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
        """Whether whoever is signed in may do this."""
        asked = ResourceAttributes(verb=verb, resource=resource, namespace=namespace)
        review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=asked))
        answer = self._read(lambda: _json(self._client.create(review)))
        return bool((answer.get("status") or {}).get("allowed"))

    def _read(self, call: Callable[[], T]) -> T:
        for attempt in range(1, TRIES + 1):
            try:
                with _translated(self.server):
                    return call()
            except (Unreachable, Throttled) as error:
                if attempt == TRIES:
                    raise
                time.sleep(getattr(error, "retry_after", None) or PAUSE * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")


def _shown(server: str) -> str:
    """The address without credentials that may stand in it."""
    address = urlsplit(server)
    return address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()


def _client(access: KubeAccess) -> Client:
    """Plain http is for loopback, where no proxy is asked; anywhere else a token would travel in the clear."""
    address = urlsplit(access.server)
    local = address.hostname in LOOPBACK
    if address.scheme != "https" and not local:
        raise Invalid.one("invalid-value", f"the Kubernetes API {_shown(access.server)} is not https", field="server")
    cluster, user = _parts(access)
    config = KubeConfig.from_one(cluster=cluster, user=user).get()
    return Client(config=config, timeout=httpx2.Timeout(TIMEOUT), trust_env=not local, field_manager=FIELD_MANAGER)


def _parts(access: KubeAccess) -> tuple[Cluster, User]:
    if access.kubeconfig is None or access.token:
        authority = base64.b64encode(access.ca_pem.encode()).decode() if access.ca_pem else None
        return Cluster(server=access.server, certificate_auth_data=authority), User(token=access.token)
    config = KubeConfig.from_dict(dict(access.kubeconfig)).get(access.context)
    if config is None:
        raise NotSignedIn("the kubeconfig names no context", hint="kubectl config get-contexts")
    return config.cluster, _user(access, config.context.user, config.user)


def _user(access: KubeAccess, name: str | None, user: User | None) -> User:
    """The kubeconfig's user; one that signs in by a command, with what the command gives."""
    written = (access.kubeconfig or {}).get("users") or ()
    said = next((one.get("user") or {} for one in written if one.get("name") == name), {})
    if not said.get("exec"):
        return user or User()
    given = credentials(said["exec"])
    return User(
        token=given.get("token"),
        client_cert_data=_encoded(given.get("clientCertificateData")),
        client_key_data=_encoded(given.get("clientKeyData")),
    )


def _encoded(pem: str | None) -> str | None:
    return base64.b64encode(pem.encode()).decode() if pem else None


def _json(thing: Any) -> Json:
    body: Json = thing.to_dict()
    return body


@contextlib.contextmanager
def _translated(server: str) -> Iterator[None]:
    """The client's errors as ours."""
    try:
        yield
    except ApiError as error:
        raise _answer(error, server) from error
    except httpx2.HTTPStatusError as error:
        raise _status(error.response.status_code, error.response.text[:300], server, error.response) from error
    except httpx2.TransportError as error:
        message = f"the Kubernetes API at {server} does not answer: {str(error) or type(error).__name__}"
        hint = "is it private, or behind a VPN? kubectl get nodes shows the same"
        raise Unreachable(message, hint=hint) from error
    except ConfigError as error:
        raise NotSignedIn(f"the cluster's credentials cannot be used: {error}", hint="kubectl get nodes") from error


def _answer(error: ApiError, server: str) -> FracgpuError:
    status = error.status
    causes = [cause.message for cause in (status.details.causes if status.details else None) or () if cause.message]
    message = "; ".join([status.message or "no reason given", *causes])
    return _status(int(status.code or 0), message, server, error.response)


def _status(code: int, message: str, server: str, response: httpx2.Response) -> FracgpuError:
    detail = {"status": code, "server": server}
    said = f"the Kubernetes API says: {message}"
    match code:
        case 401:
            return NotSignedIn(said, hint="sign in to the cloud again", detail=detail)
        case 403:
            return Forbidden(said, hint="ask for a role in the cluster that permits it", detail=detail)
        case 404:
            return NotFound(said, detail=detail)
        case 409:
            return _conflict(said, detail)
        case 429 | 502 | 503 | 504:
            wait = response.headers.get("Retry-After", "")
            return Throttled(said, retry_after=float(wait) if wait.isdecimal() else None, detail=detail)
        case _:
            return CloudError(said, detail=detail)


def _conflict(message: str, detail: Json) -> Conflict:
    return NotOurs(message, hint="another tool wrote these fields; change them with it", detail=detail)
