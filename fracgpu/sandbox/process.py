"""The sandbox as a background process: one per user and state folder, known by what it says of itself, not by its pid.

`/healthz` that returns the id of the state file is the only proof of life. A stale state file, a stranger on its port,
a server that was killed: all read as "not running", and the next start puts things right.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import fracgpu
from fracgpu.errors import PartNotInstalled, Unreachable
from fracgpu.sandbox import client, folder
from fracgpu.sandbox.folder import Endpoints

START_TIMEOUT = 60.0
STOP_TIMEOUT = 10.0
ACCOUNTS = ("AWS_", "AZURE_", "CLOUDSDK_", "GOOGLE_")


def find() -> Endpoints | None:
    """The running sandbox of this user, or None."""
    _supported()
    return _alive(folder.state_folder())


def start() -> Endpoints:
    """Start the sandbox unless it runs; any number of racing callers get the same one.

    Raises PartNotInstalled without the `sandbox` extra or on Windows, Unreachable when the server will not come up.
    """
    _supported()
    _installed()
    home = folder.state_folder()
    with folder.locked(home):
        return _alive(home) or _spawn(home)


ensure = start
"""What `--sandbox` calls: the sandbox that runs, started if it must be."""


def stop() -> bool:
    """End the sandbox and wait until it is gone. False when none was running."""
    _supported()
    home = folder.state_folder()
    with folder.locked(home):
        endpoints = _alive(home)
        if endpoints is not None:
            _end(home, endpoints)
    return endpoints is not None


def _end(home: Path, endpoints: Endpoints) -> None:
    with contextlib.suppress(Unreachable):
        client.Control(endpoints).stop()
    deadline = time.monotonic() + STOP_TIMEOUT
    while client.identity(endpoints.http) == endpoints.id:
        if time.monotonic() > deadline:
            raise Unreachable(
                f"The sandbox (process {endpoints.pid}) was told to stop and still answers.",
                hint=f"its log is {home / folder.LOG}",
            )
        time.sleep(0.02)


def _supported() -> None:
    if sys.platform == "win32":
        raise PartNotInstalled(
            "The sandbox runs on Linux and macOS.", hint="on Windows use it inside WSL: https://aka.ms/wsl"
        )


def _installed() -> None:
    missing = [name for name in ("werkzeug", "moto", "grpc") if find_spec(name) is None]
    if missing:
        raise PartNotInstalled(
            f"The sandbox needs packages that are not installed: {', '.join(missing)}.",
            hint="pip install 'fracgpu[sandbox]'",
        )


def _alive(home: Path) -> Endpoints | None:
    endpoints = folder.read_state(home)
    if endpoints is None or not endpoints.http.startswith("http://127.0.0.1:"):
        return None
    return endpoints if client.identity(endpoints.http) == endpoints.id else None


def _spawn(home: Path) -> Endpoints:
    ready, theirs = os.pipe()
    log = os.open(home / folder.LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        subprocess.run(
            [sys.executable, "-m", "fracgpu.sandbox.daemon", str(home), str(theirs)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(theirs,),
            env=_environment(),
            start_new_session=True,
            cwd=Path(fracgpu.__file__).parents[1],
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(log)
    return _await(home, ready)


def _environment() -> dict[str, str]:
    """The server's environment: no cloud account of the user's is in it to trip moto or to be used."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(ACCOUNTS)}
    return own | {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def _await(home: Path, ready: int) -> Endpoints:
    try:
        select.select([ready], [], [], START_TIMEOUT)
    finally:
        os.close(ready)
    endpoints = _alive(home)
    if endpoints is None:
        raise Unreachable("The sandbox did not start.", hint=f"its log says why: {home / folder.LOG}")
    return endpoints
