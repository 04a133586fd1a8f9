"""One port speaks http and https; a strict client takes its certificate once it is told of the authority."""

from __future__ import annotations

import http.client
import socket
import ssl

import pytest

from tests.sandbox.conftest import Sandbox


def _strict(authority: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_same_port_speaks_both(sandbox: Sandbox, host: str) -> None:
    port = sandbox.server.port
    plain = http.client.HTTPConnection("127.0.0.1", port)
    secure = http.client.HTTPSConnection(host, port, context=_strict(sandbox.world.tls.authority))
    for connection in (plain, secure, secure):
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        assert (answer.status, b"id" in answer.read()) == (200, True)
    plain.close()
    secure.close()


def test_who_is_not_told_of_the_authority_does_not_trust_it(sandbox: Sandbox) -> None:
    secure = http.client.HTTPSConnection("127.0.0.1", sandbox.server.port, context=ssl.create_default_context())
    with pytest.raises(ssl.SSLCertVerificationError):
        secure.request("GET", "/healthz")
    secure.close()


def test_each_sandbox_has_an_authority_of_its_own(sandbox: Sandbox) -> None:
    from fracgpu.sandbox.tls import Identity

    assert Identity().authority != sandbox.world.tls.authority == sandbox.world.tls.authority


@pytest.mark.parametrize("sent", [b"", b"\x16", b"\x16\x03\x01 no handshake"])
def test_what_is_no_handshake_disturbs_nobody(
    sandbox: Sandbox, sent: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", sandbox.server.port)) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(100):
            pass
    assert capsys.readouterr().err == ""
    test_the_same_port_speaks_both(sandbox, "127.0.0.1")


def test_what_an_answer_points_to_is_reached_the_same_way(sandbox: Sandbox) -> None:
    secure = http.client.HTTPSConnection("127.0.0.1", sandbox.server.port, context=_strict(sandbox.world.tls.authority))
    path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/p"
    body = '{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "mode": "User"}}'
    secure.request("PUT", f"{path}?api-version=2026-08-01", body, {"Content-Type": "application/json"})
    answer = secure.getresponse()
    assert answer.status == 201, answer.read()
    assert answer.headers["Azure-AsyncOperation"].startswith(f"https://127.0.0.1:{sandbox.server.port}/")
    answer.read()
    secure.close()
