"""The state folder: where it is, whose it is, and the file that says how to reach the sandbox that runs from it."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from fracgpu.errors import Forbidden

STATE = "sandbox.json"
LOG = "sandbox.log"
LOCK = "sandbox.lock"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """How to reach a sandbox. `token` opens its control API; `id` tells it from a stranger on the same port."""

    http: str
    grpc: str
    id: str
    token: str
    pid: int

    def __repr__(self) -> str:
        return f"Endpoints(http={self.http!r}, grpc={self.grpc!r}, id={self.id!r}, pid={self.pid})"


def state_folder() -> Path:
    """The user's folder for a running sandbox, made with mode 0700 if need be.

    $XDG_RUNTIME_DIR/fracgpu where that folder is there and the user's own (after `sudo` it is another's), else
    $XDG_STATE_HOME/fracgpu, else ~/.local/state/fracgpu. Raises Forbidden when somebody else owns it.
    """
    folder = _parent() / "fracgpu"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid():
        raise Forbidden(
            f"{folder} is not a folder of yours, so the sandbox will not keep its token there.",
            hint="set XDG_STATE_HOME to a folder of your own",
        )
    if stat.S_IMODE(seen.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def _parent() -> Path:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "")
    if runtime.is_absolute() and runtime.is_dir() and runtime.stat().st_uid == os.getuid():
        return runtime
    state = Path(os.environ.get("XDG_STATE_HOME") or "")
    return state if state.is_absolute() else Path.home() / ".local" / "state"


def write(path: Path, text: str) -> None:
    """Write a file of mode 0600 so that a reader sees the old text or the new, never half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)


def write_state(folder: Path, endpoints: Endpoints) -> None:
    write(folder / STATE, json.dumps(asdict(endpoints)))


def read_state(folder: Path) -> Endpoints | None:
    """What the state file says; None when there is none or it is not one of ours."""
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
        return Endpoints(**found)
    except (OSError, ValueError, TypeError):
        return None


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the kernel lets go of it when the process dies, however it dies."""
    import fcntl

    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
