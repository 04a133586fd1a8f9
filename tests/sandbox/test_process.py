"""The background process: one a user, found by what it answers, and well-behaved whatever happens to it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

import fracgpu
from fracgpu.errors import Forbidden, PartNotInstalled, Unreachable
from fracgpu.sandbox import client, daemon, folder, process
from fracgpu.sandbox.folder import Endpoints
from fracgpu.sandbox.server import Server
from tests.sandbox.conftest import Sandbox

SOURCES = Path(fracgpu.__file__).parents[1]
START = "from fracgpu.sandbox import process; print(process.start().id)"


@pytest.fixture(autouse=True)
def _tidy(home: Path) -> Iterator[None]:
    yield
    if home.exists():
        with contextlib.suppress(Forbidden):
            process.stop()


def _until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_starts_once_is_found_and_stops() -> None:
    assert process.find() is None
    started = process.start()
    assert process.start() == process.find() == started
    assert client.Control(started).status()["endpoints"] == {"http": started.http, "grpc": started.grpc}
    assert process.stop() is True
    assert process.find() is None
    assert process.stop() is False


def test_folder_and_files_are_the_users_alone() -> None:
    process.start()
    home = folder.state_folder()
    assert _mode(home) == 0o700
    inside = {path: 0o700 if path.is_dir() else 0o600 for path in home.rglob("*")}
    assert {path.name: oct(_mode(path)) for path, right in inside.items() if _mode(path) != right} == {}


def test_the_token_is_in_no_text_of_the_endpoints() -> None:
    endpoints = Endpoints("http://127.0.0.1:1", "127.0.0.1:2", "id", "secret", 1)
    assert "secret" not in f"{endpoints} {endpoints!r}"


def test_ten_racing_starts_give_one_server() -> None:
    racers = [
        subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE, text=True, cwd=SOURCES)
        for _ in range(10)
    ]
    ids = [racer.communicate(timeout=120)[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 10
    assert len(set(ids)) == 1


def test_two_homes_have_a_sandbox_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = process.start()
    with monkeypatch.context() as other:
        other.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        second = process.start()
        assert second.http != first.http
        assert process.stop() is True
    assert process.find() == first


def test_a_killed_server_is_replaced() -> None:
    killed = process.start()
    os.kill(killed.pid, signal.SIGKILL)
    assert _until(lambda: process.find() is None)
    assert folder.read_state(folder.state_folder()) == killed
    assert process.start().id != killed.id


def test_a_stale_state_file_ends_nobody() -> None:
    """The pid in it is this test's own: were it trusted, the test would not live to pass."""
    folder.write_state(folder.state_folder(), Endpoints("http://127.0.0.1:9", "", "gone", "token", os.getpid()))
    assert process.find() is None
    assert process.stop() is False
    assert process.start().id != "gone"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"http": 1}', '{"id": "x"}'])
def test_a_broken_state_file_reads_as_none(text: str) -> None:
    folder.write(folder.state_folder() / folder.STATE, text)
    assert process.find() is None


def test_a_state_file_cannot_send_the_token_elsewhere() -> None:
    folder.write_state(folder.state_folder(), Endpoints("http://192.0.2.1:80", "", "id", "token", 1))
    assert process.find() is None


class _Stranger(BaseHTTPRequestHandler):
    """Some other program that listens where a sandbox once did."""

    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(str(self.headers))
        body = json.dumps({"id": "another"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[HTTPServer]:
    _Stranger.seen = []
    server = HTTPServer(("127.0.0.1", 0), _Stranger)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_stranger_on_the_old_port_is_left_alone(stranger: HTTPServer) -> None:
    address = f"http://127.0.0.1:{stranger.server_port}"
    folder.write_state(folder.state_folder(), Endpoints(address, "", "old", "secret-token", os.getpid()))
    assert process.find() is None
    assert process.start().http != address
    assert _Stranger.seen
    assert "secret-token" not in "".join(_Stranger.seen)


def test_it_ends_when_its_folder_is_gone() -> None:
    endpoints = process.start()
    shutil.rmtree(folder.state_folder())
    assert _until(lambda: client.identity(endpoints.http) is None)


def test_it_ends_when_the_folder_is_anothers() -> None:
    endpoints = process.start()
    home = folder.state_folder()
    folder.write_state(home, replace(endpoints, id="another"))
    assert _until(lambda: client.identity(endpoints.http) is None)
    state = folder.read_state(home)
    assert state is not None
    assert state.id == "another"


def test_it_ends_after_half_an_hour_without_a_call() -> None:
    server = Server()
    home = folder.state_folder()
    endpoints = Endpoints(server.http, server.grpc, server.id, server.token, os.getpid())
    folder.write_state(home, endpoints)
    server.used -= 29 * 60
    assert not daemon.is_idle(server)
    server.used -= 2 * 60
    daemon.serve(home, server)
    assert folder.read_state(home) is None
    assert client.identity(server.http) is None


def test_a_call_begins_the_half_hour_anew(sandbox: Sandbox) -> None:
    sandbox.server.used -= 31 * 60
    assert client.identity(sandbox.http) is not None
    assert _until(lambda: not sandbox.server.busy)
    assert not daemon.is_idle(sandbox.server)


def test_a_symbolic_link_in_place_of_the_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "fracgpu").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(Forbidden, match="not a folder of yours"):
        process.start()


def test_a_runtime_folder_that_is_not_there_is_passed_over(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "absent"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert folder.state_folder() == tmp_path / "state" / "fracgpu"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert folder.state_folder() == home / ".local" / "state" / "fracgpu"


def test_a_folder_that_others_could_read_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fracgpu").mkdir(mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _mode(folder.state_folder()) == 0o700


def test_a_server_that_cannot_come_up_says_where_its_log_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(Unreachable) as error:
        process.start()
    assert str(folder.state_folder() / folder.LOG) in (error.value.hint or "")


def test_without_its_packages_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from fracgpu.sandbox import process\nfrom fracgpu.errors import PartNotInstalled\n"
        "try: process.start()\nexcept PartNotInstalled as error: print(error.hint)"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SOURCES)]
    assert "fracgpu[sandbox]" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_broken_account_of_the_users_does_not_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "absent")
    address = process.start().http
    monkeypatch.delenv("AWS_PROFILE")
    ec2 = boto3.client(
        "ec2",
        region_name="us-east-1",
        endpoint_url=address,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
        config=Config(proxies={}, read_timeout=100, retries={"max_attempts": 0}),
    )
    assert ec2.describe_subnets()["Subnets"]


def test_on_windows_it_says_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for verb in (process.find, process.start, process.stop):
        with pytest.raises(PartNotInstalled) as error:
            verb()
        assert "WSL" in (error.value.hint or "")
    monkeypatch.undo()


def test_endpoints_survive_the_state_file() -> None:
    endpoints = Endpoints("http://127.0.0.1:1", "127.0.0.1:2", "id", "token", 3)
    folder.write_state(folder.state_folder(), endpoints)
    assert asdict(folder.read_state(folder.state_folder()) or endpoints) == asdict(endpoints)
