"""What every test may count on: no network but loopback, a home of its own, and no credentials of whoever runs it."""

from __future__ import annotations

import errno
import ipaddress
import itertools
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fracgpu.cli.globals import GLOBALS, Globals

DEAD_PROXY = "http://127.0.0.1:9"
"""Port 9 answers nobody. Children of a test and gRPC's C core are out of the audit hook's reach; a proxy still stops
what goes to other machines there, and a client that fails to bypass it on loopback is found out."""

FOREIGN_SETTINGS = (
    "ARM_",
    "AWS_",
    "AZURE_",
    "BOTO_",
    "CLOUDSDK_",
    "FRACGPU_",
    "GCE_",
    "GCLOUD_",
    "GOOGLE_",
    "KUBE",
    "XDG_",
)
COLOUR_SETTINGS = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "NO_COLOR", "PY_COLORS")

_homes = itertools.count(1)


def pytest_configure() -> None:
    """Close the network before a test module is imported, and let no property depend on luck or on a clock."""
    sys.addaudithook(_loopback_only)
    settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("steady")


def _loopback_only(event: str, args: tuple[object, ...]) -> None:
    """Answer as a machine without a network would, so that the code under test meets an error that it knows."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        if not _is_loopback(args[1]):
            raise OSError(errno.ENETUNREACH, f"tests reach loopback only, not {args[1]!r}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not _is_local_name(args[0]):
        raise socket.gaierror(socket.EAI_NONAME, f"tests look up local names only, not {args[0]!r}")


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):  # AF_UNIX has a path; a connected socket has no address
        return True
    return _is_local_name(address[0])


def _is_local_name(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(scope="session")
def _homes_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(_homes_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own empty home. Every XDG folder lies in it, and no setting of the machine reaches the test."""
    folder = _homes_folder / str(next(_homes))
    folder.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith(FOREIGN_SETTINGS) or name in COLOUR_SETTINGS]:
        monkeypatch.delenv(name)
    for name, value in _settings(folder).items():
        monkeypatch.setenv(name, value)
    return folder


def _settings(folder: Path) -> dict[str, str]:
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    proxies = {name: DEAD_PROXY for scheme in ("http", "https", "grpc") for name in _both_cases(f"{scheme}_proxy")}
    bypass = dict.fromkeys(_both_cases("no_proxy"), "localhost,127.0.0.1,::1")
    return (
        proxies
        | bypass
        | {
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / ".cache"),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "XDG_DATA_HOME": str(folder / ".local" / "share"),
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_STATE_HOME": str(folder / ".local" / "state"),
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_GCE_CHECK": "true",
        }
    )


def _both_cases(name: str) -> tuple[str, str]:
    return name, name.upper()


@pytest.fixture(autouse=True)
def _options_of_the_run() -> Iterator[None]:
    """What a command line was told for the whole run is no part of the next test."""
    before = {one.name: getattr(GLOBALS, one.name) for one in fields(Globals)}
    yield
    for name, value in before.items():
        setattr(GLOBALS, name, value)
