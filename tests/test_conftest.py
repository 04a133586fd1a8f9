"""The fence around the tests holds."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "8.8.8.8", "2001:db8::1"])
def test_no_other_machine_is_reached(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client, pytest.raises(OSError, match="loopback only"):
        client.connect((address, 443))


def test_no_datagram_leaves() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(OSError, match="loopback only"):
        client.sendto(b"", ("192.0.2.1", 53))


def test_no_foreign_name_is_looked_up() -> None:
    with pytest.raises(socket.gaierror, match="local names only"):
        socket.create_connection(("management.example", 443))


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_a_child_sees_the_tests_home_and_no_credentials(home: Path) -> None:
    script = "import os, pathlib; print(pathlib.Path.home(), *sorted(n for n in os.environ if n.startswith('AWS_')))"
    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert seen == [str(home), "AWS_EC2_METADATA_DISABLED"]


def test_each_test_has_an_empty_home(home: Path) -> None:
    assert [path.name for path in home.iterdir()] == ["run"]
    assert os.environ["XDG_CONFIG_HOME"].startswith(str(home))
