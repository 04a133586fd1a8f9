"""The sandbox's own certificate authority: made afresh by every sandbox, trusted by nobody who is not told to.

The clouds' tools write kubeconfigs for https, and kubectl and az send their tokens over nothing else, so the port
speaks both. Keys live in memory; a file has one for as long as it takes OpenSSL to read it.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import ssl
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

DAYS = 365


class Identity:
    """A certificate for 127.0.0.1 and the authority that signed it, made when somebody first asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[str, ssl.SSLContext] | None = None

    @property
    def authority(self) -> str:
        """The authority's certificate, PEM."""
        return self._make()[0]

    @property
    def authority_data(self) -> str:
        """The same in base64, as kubeconfigs and the clouds' APIs have it."""
        return base64.b64encode(self.authority.encode()).decode()

    def secure(self, connection: socket.socket) -> ssl.SSLSocket:
        """The server's side of TLS over a connection, after the handshake. Raises ssl.SSLError."""
        return self._make()[1].wrap_socket(connection, server_side=True)

    def _make(self) -> tuple[str, ssl.SSLContext]:
        with self._lock:
            if self._made is None:
                self._made = _new()
            return self._made


def _new() -> tuple[str, ssl.SSLContext]:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = _certificate("fracgpu sandbox authority", root_key, None, root_key, ())
    names = (x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")), x509.DNSName("localhost"))
    own = _certificate("fracgpu sandbox", key, root, root_key, names)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + own.public_bytes(Encoding.PEM)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:  # of mode 0700
        chain = Path(folder) / "chain.pem"
        chain.write_bytes(pem)
        context.load_cert_chain(chain)
    return root.public_bytes(Encoding.PEM).decode(), context


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    issuer_key: EllipticCurvePrivateKey,
    names: tuple[x509.GeneralName, ...],
) -> x509.Certificate:
    """A certificate that a strict verifier takes (RFC 5280); an authority's where there is no issuer."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    public, signer = key.public_key(), issuer_key.public_key()
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only"), False
    )
    root = issuer is None
    builder = (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer.subject if issuer else subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=root, path_length=0 if root else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
        .add_extension(
            x509.KeyUsage(digital_signature=not root, key_cert_sign=root, crl_sign=root, decipher_only=False, **usage),
            critical=True,
        )
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
    return builder.sign(issuer_key, SHA256())
