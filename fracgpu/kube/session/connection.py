"""From a login to lightkube's client: TLS, proxies, credentials."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from lightkube import Client, KubeConfig
from lightkube.config.client_adapter import verify_cluster
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import Cluster, User

from fracgpu.errors import Invalid, NotSignedIn, PartNotInstalled
from fracgpu.kube.exec_plugin import credentials
from fracgpu.kube.kubeconfig import Login
from fracgpu.kube.plugin import MANAGER


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one call may take, in seconds, how often it is tried, and how long a credential plugin may take."""

    seconds: float
    tries: int
    sign_in: float


PATIENT = Patience(20.0, 3, 60.0)
HASTY = Patience(5.0, 1, 10.0)
"""For what is nice to know: a cluster behind a firewall answers nobody."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def shown(server: str) -> str:
    """The address without credentials that may stand in it."""
    address = urlsplit(server)
    return address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()


def client(login: Login, patience: Patience) -> Client:
    """Plain http is for loopback, where no proxy is asked; anywhere else a token would travel in the clear.

    Raises NotSignedIn and PartNotInstalled for credentials that cannot be used, Invalid for what is refused.
    """
    with _usable(login):
        return _client(login, patience)


def _client(login: Login, patience: Patience) -> Client:
    address = urlsplit(login.server)
    local = address.hostname in LOOPBACK
    if address.scheme != "https" and not local:
        message = f"the Kubernetes API {shown(login.server)} is not https"
        raise Invalid.one(
            "invalid-value", message, field="server", hint="https://, lest the token travels in the clear"
        )
    cluster = Cluster(
        server=login.server,
        certificate_auth=login.authority_file,
        certificate_auth_data=_encoded(login.authority_pem),
        insecure=login.insecure,
    )
    config = KubeConfig.from_one(cluster=cluster, user=_user(login, patience)).get()
    assert config is not None, "made of one has one"
    return Client(
        config=config,
        timeout=httpx2.Timeout(patience.seconds),
        trust_env=not local,
        proxy=login.proxy,
        transport=_named(login, config, local=local) if login.tls_name else None,
        field_manager=MANAGER,
    )


class _Named(httpx2.BaseTransport):
    """Holds the server's certificate against a name of its own."""

    def __init__(self, inner: httpx2.BaseTransport, name: str) -> None:
        self._inner, self._name = inner, name

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.extensions = {**request.extensions, "sni_hostname": self._name}
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def _named(login: Login, config: SingleConfig, *, local: bool) -> _Named:
    """The client holds certificates inside a proxy's tunnel against the address alone, so both at once are refused."""
    host = urlsplit(login.server).hostname or ""
    proxy = login.proxy or (None if local or proxy_bypass(host) else getproxies().get("https"))
    if proxy:
        message = f"the kubeconfig says tls-server-name {login.tls_name}, and a proxy is in the way"
        raise Invalid.one("invalid-value", message, hint=f"NO_PROXY={host}, where the server can be reached without")
    context = verify_cluster(config.cluster, config.user or User(), config.abs_file, trust_env=False)
    return _Named(httpx2.HTTPTransport(verify=context), str(login.tls_name))


def _user(login: Login, patience: Patience) -> User:
    """Who signs in; one that does so by a command, with what the command gives."""
    said = login.user
    if said.get("exec"):
        given = credentials(said["exec"], login, patience.sign_in)
        return User(
            token=given.get("token"),
            client_cert_data=_encoded(given.get("clientCertificateData")),
            client_key_data=_encoded(given.get("clientKeyData")),
        )
    return User(
        username=said.get("username"),
        password=said.get("password"),
        token=said.get("token"),
        token_file=said.get("tokenFile"),
        client_cert=said.get("client-certificate"),
        client_cert_data=said.get("client-certificate-data"),
        client_key=said.get("client-key"),
        client_key_data=said.get("client-key-data"),
    )


@contextlib.contextmanager
def _usable(login: Login) -> Iterator[None]:
    """Credentials that are there and cannot be used: a file that is gone, a certificate that is none, an odd proxy."""
    try:
        for path in login.files():
            Path(path).read_bytes()
        yield
    except ImportError as error:
        message = (
            f"the kubeconfig's proxy is of a kind that needs one package more: {urlsplit(login.proxy or '').scheme}"
        )
        raise PartNotInstalled(message, hint="pip install socksio") from error
    except (OSError, ValueError, httpx2.InvalidURL) as error:
        raise NotSignedIn(f"the cluster's credentials cannot be used: {error}", hint="kubectl get nodes") from error


def _encoded(pem: str | None) -> str | None:
    return base64.b64encode(pem.encode()).decode() if pem else None
