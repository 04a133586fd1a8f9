"""lightkube against the sandbox's API: reads, server-side apply, and errors as ours."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import ipaddress
import json
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from fracgpu.errors import (
    CloudError,
    Forbidden,
    FracgpuError,
    Invalid,
    NotFound,
    NotOurs,
    NotSignedIn,
    PartNotInstalled,
    Throttled,
    Unreachable,
)
from fracgpu.kube.access import KubeAccess
from fracgpu.kube.session import HASTY, Kube, api
from fracgpu.plan import Json
from tests.kube_pools import Cloud

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

NAME, NAMESPACE = "fracgpu-device-plugin", "gpu-operator"


@pytest.fixture
def access(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> KubeAccess:
    """The way to AKS's cluster `sandbox`; what is tried again is tried at once."""
    monkeypatch.setattr(api, "PAUSE", 0.001)
    return Cloud(sandbox, "aks").session().kube_access()


def config_map(**data: str) -> Json:
    labels = {"app.kubernetes.io/managed-by": "fracgpu"}
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.mark.parametrize("cloud", ["aks", "gke", "eks"])
def test_every_cloud_leads_to_its_own_cluster(sandbox: Sandbox, cloud: str) -> None:
    promise, _ = Cloud(sandbox, cloud).make("gpus", gpu="t4", nodes={"count": 2})
    with Cloud(sandbox, cloud).kube() as kube:
        nodes = kube.nodes(dict([promise.pool_label]))
        assert len(nodes) == 2
        assert kube.nodes({promise.pool_label[0]: "other"}) == []
        pods = kube.pods_on(nodes[0]["metadata"]["name"])
        assert {pod["spec"]["nodeName"] for pod in pods} == {nodes[0]["metadata"]["name"]}
        assert pods


def test_apply_makes_changes_and_takes_back_only_its_own(access: KubeAccess) -> None:
    with Kube(access) as kube:
        assert kube.config_map(NAMESPACE, NAME) is None
        kube.apply_config_map(config_map(one="1", two="2"))
        kube.apply_config_map(config_map(one="1"))
        there = kube.config_map(NAMESPACE, NAME)
        assert there is not None
        assert there["data"] == {"one": "1"}
        managers = {entry["manager"] for entry in there["metadata"]["managedFields"]}
        assert managers == {"fracgpu"}
        assert [one["metadata"]["name"] for one in kube.config_maps([NAMESPACE, NAMESPACE])] == [NAME]


def test_a_dry_run_changes_nothing(access: KubeAccess) -> None:
    with Kube(access) as kube:
        assert kube.apply_config_map(config_map(one="1"), dry_run=True)["data"] == {"one": "1"}
        assert kube.config_map(NAMESPACE, NAME) is None


def test_what_another_manager_owns_is_not_taken(access: KubeAccess, monkeypatch: pytest.MonkeyPatch) -> None:
    with Kube(access) as kube:
        with monkeypatch.context() as patch:
            patch.setattr(api, "MANAGER", "argocd")
            kube.apply_config_map(config_map(one="theirs"))
        with pytest.raises(NotOurs) as caught:
            kube.apply_config_map(config_map(one="ours"))
        assert "argocd" in caught.value.message
        there = kube.config_map(NAMESPACE, NAME)
        assert there is not None
        assert there["data"] == {"one": "theirs"}


def test_a_namespace_that_is_missing(access: KubeAccess) -> None:
    manifest = config_map(one="1")
    manifest["metadata"]["namespace"] = "nowhere"
    with Kube(access) as kube, pytest.raises(NotFound):
        kube.apply_config_map(manifest)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, NotSignedIn), (403, Forbidden), (429, Throttled), (500, Unreachable), (503, Throttled)],
)
def test_refusals(sandbox: Sandbox, access: KubeAccess, status: int, kind: type[FracgpuError]) -> None:
    sandbox.world.faults.add("k8s", "list nodes", status=status, message="because", times=9)
    with Kube(access) as kube, pytest.raises(kind) as caught:
        kube.nodes({})
    assert "because" in caught.value.message
    assert caught.value.detail["status"] == status


def test_a_server_that_is_busy_for_a_moment(sandbox: Sandbox, access: KubeAccess) -> None:
    sandbox.world.faults.add("k8s", "list nodes", status=503, message="starting", times=2)
    with Kube(access) as kube:
        assert kube.nodes({})


def test_a_connection_that_breaks_once(sandbox: Sandbox, access: KubeAccess) -> None:
    sandbox.world.faults.add("k8s", "list nodes", drop=True, times=1)
    with Kube(access) as kube:
        assert kube.nodes({})


def test_nobody_there(access: KubeAccess, free_port: int) -> None:
    gone = KubeAccess(server=f"http://127.0.0.1:{free_port}", token="x")
    with Kube(gone) as kube, pytest.raises(Unreachable) as caught:
        kube.nodes({})
    assert str(free_port) in caught.value.message


def test_a_token_never_travels_in_the_clear() -> None:
    with pytest.raises(Invalid):
        Kube(KubeAccess(server="http://kubernetes.example.com", token="secret"))


def test_secrets_are_not_shown(access: KubeAccess) -> None:
    shown = repr(KubeAccess(server="https://x", token="secret", kubeconfig={"users": ["secret"]}))
    assert "secret" not in shown


def test_a_kubeconfig_that_signs_in_by_a_command(access: KubeAccess, tmp_path: Path) -> None:
    script = tmp_path / "login"
    script.write_text(f'#!{sys.executable}\nprint(\'{{"status": {{"token": "sandbox"}}}}\')\n', encoding="utf-8")
    script.chmod(0o700)
    with Kube(with_user(access, {"exec": {"apiVersion": "v1", "command": str(script)}})) as kube:
        assert kube.nodes({})
    with Kube(with_user(access, {})) as kube, pytest.raises(NotSignedIn):
        kube.nodes({})


def with_user(access: KubeAccess, user: dict[str, Any], **more: Any) -> KubeAccess:
    authority = base64.b64encode((access.ca_pem or "").encode()).decode()
    cluster = {"server": access.server} | ({"certificate-authority-data": authority} if authority else {})
    return with_cluster(access, {**cluster, **more}, user)


def with_cluster(access: KubeAccess, cluster: dict[str, Any], user: dict[str, Any]) -> KubeAccess:
    config = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": cluster}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    }
    return dataclasses.replace(access, token=None, kubeconfig=config, context="here")


def test_what_one_may_do(access: KubeAccess) -> None:
    with Kube(access) as kube:
        assert kube.allowed("patch", "configmaps", NAMESPACE)


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """An https server that has no nodes for whoever shows the token; its address, and its own certificate."""
    certificate, key = self_signed()
    (tmp_path / "server.pem").write_bytes(certificate + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Nodeless)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}", certificate.decode()
    server.shutdown()
    thread.join()
    server.server_close()


class Nodeless(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == "Bearer right"
        status = {"kind": "Status", "apiVersion": "v1", "code": 401, "message": "who are you?"}
        body = json.dumps({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": []} if known else status)
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def self_signed() -> tuple[bytes, bytes]:
    """A certificate for 127.0.0.1 and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's own")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return made.public_bytes(Encoding.PEM), private


def test_the_clusters_own_authority_is_believed_and_no_other(
    tls_server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "PAUSE", 0.001)
    address, authority = tls_server
    with Kube(KubeAccess(server=address, ca_pem=authority, token="right")) as kube:
        assert kube.nodes({}) == []
    with Kube(KubeAccess(server=address, ca_pem=authority, token="wrong")) as kube, pytest.raises(NotSignedIn):
        kube.nodes({})
    with Kube(KubeAccess(server=address, token="right")) as kube, pytest.raises(Unreachable) as caught:
        kube.nodes({})
    assert "certificate" in caught.value.message.lower()


@pytest.fixture
def tls(tls_server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> KubeAccess:
    """The https server under a name that its certificate has not, with its token."""
    monkeypatch.setattr(api, "PAUSE", 0.001)
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    address, authority = tls_server
    return KubeAccess(server=address.replace("127.0.0.1", "localhost"), ca_pem=authority, token="right")


def test_a_certificate_is_held_against_the_name_that_the_kubeconfig_says(tls: KubeAccess) -> None:
    user = {"token": "right"}
    with Kube(with_user(tls, user)) as kube, pytest.raises(Unreachable) as caught:
        kube.nodes({})
    assert "localhost" in caught.value.message
    named = with_user(tls, user, **{"tls-server-name": "127.0.0.1"})
    with Kube(named) as kube:
        assert kube.nodes({}) == []
    with Kube(with_user(tls, user, **{"tls-server-name": "other"})) as kube, pytest.raises(Unreachable):
        kube.nodes({})


def test_a_name_and_a_proxy_at_once_are_refused(tls: KubeAccess) -> None:
    both = with_user(tls, {"token": "right"}, **{"tls-server-name": "127.0.0.1", "proxy-url": "http://127.0.0.1:9"})
    with pytest.raises(Invalid, match="proxy"):
        Kube(both)


def test_a_server_is_believed_unseen_where_the_kubeconfig_says_so(tls: KubeAccess) -> None:
    unseen = {"server": tls.server, "insecure-skip-tls-verify": True}
    with Kube(with_cluster(tls, unseen, {"token": "right"})) as kube:
        assert kube.nodes({}) == []


def test_a_proxy_that_the_kubeconfig_names_is_taken(tls: KubeAccess, free_port: int) -> None:
    through = with_user(tls, {"token": "right"}, **{"proxy-url": f"http://127.0.0.1:{free_port}"})
    with Kube(through, HASTY) as kube, pytest.raises(Unreachable):
        kube.nodes({})


def test_a_proxy_of_a_kind_that_needs_more_is_named(tls: KubeAccess) -> None:
    through = with_user(tls, {"token": "right"}, **{"proxy-url": "socks5://127.0.0.1:9"})
    with pytest.raises(PartNotInstalled, match="socks5"):
        Kube(through)


def test_files_of_a_kubeconfig(tls: KubeAccess, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(tls.ca_pem or "", encoding="utf-8")
    (tmp_path / "token").write_text("right\n", encoding="utf-8")
    named = {"server": tls.server, "certificate-authority": str(tmp_path / "ca.pem"), "tls-server-name": "127.0.0.1"}
    with Kube(with_cluster(tls, named, {"tokenFile": str(tmp_path / "token")})) as kube:
        assert kube.nodes({}) == []
    with pytest.raises(NotSignedIn, match="gone"):
        Kube(with_cluster(tls, {**named, "certificate-authority": str(tmp_path / "gone")}, {"token": "right"}))


ODD_ANSWERS: dict[str, tuple[int, bytes]] = {
    "a login page": (200, b"<html>log in</html>"),
    "nothing": (200, b""),
    "another kind": (200, b"[1, 2]"),
    "no items": (200, b'{"kind": "NodeList"}'),
    "a node without a name": (200, b'{"kind": "NodeList", "metadata": {}, "items": [{"spec": {}}]}'),
    "elsewhere": (302, b""),
    "a proxy's page": (407, b"<html>pay first</html>"),
    "a refusal without words": (418, b""),
}


@pytest.mark.parametrize("what", ODD_ANSWERS)
def test_what_is_no_kubernetes_api(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, body = ODD_ANSWERS[what]

    class Odd(Nodeless):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "https://login.example.com/")
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        access = KubeAccess(f"http://127.0.0.1:{server.server_address[1]}", token="t")
        with Kube(access, HASTY) as kube, pytest.raises(CloudError) as caught:
            kube.nodes({})
        assert caught.value.message.removeprefix("the Kubernetes API says: ")
        assert caught.value.hint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
