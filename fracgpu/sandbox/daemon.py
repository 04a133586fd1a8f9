"""The background process itself: `python -m fracgpu.sandbox.daemon FOLDER READY`, started by `process.py` alone.

READY is a pipe's end that is closed, by this process or by its death, when there is an answer to "is it up?".
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fracgpu.sandbox.server import Server

IDLE_SECONDS = 30 * 60.0
LOOK_EVERY = 1.0
GRACE = 1.0


def main(home: Path, ready: int) -> None:
    """Serve until told to stop, until nobody has asked for half an hour, or until the folder no longer names us."""
    if os.fork():
        os._exit(0)
    os.umask(0o077)
    # Nothing was imported and no thread runs before the fork: gRPC does not survive one.
    from fracgpu.sandbox import environment, folder
    from fracgpu.sandbox.server import Server

    server = Server()
    endpoints = folder.Endpoints(server.http, server.grpc, server.id, server.token, os.getpid())
    environment.write_files(home, server.http, server.world.tls)
    folder.write_state(home, endpoints)
    os.close(ready)
    threading.Thread(target=server.warm, daemon=True).start()
    serve(home, server)


def serve(home: Path, server: Server) -> None:
    """Wait for a reason to end, then end: the state file goes first, if it is still this server's."""
    from fracgpu.sandbox import folder

    while not server.stopping.wait(LOOK_EVERY):
        if _forgotten(home, server.id) or is_idle(server):
            break
    if not _forgotten(home, server.id):
        (home / folder.STATE).unlink(missing_ok=True)
    server.end(GRACE)


def _forgotten(home: Path, id: str) -> bool:
    from fracgpu.sandbox import folder

    known = folder.read_state(home)
    return known is None or known.id != id


def is_idle(server: Server) -> bool:
    """Whether nobody has asked for half an hour and nobody is being answered."""
    return not server.busy and time.monotonic() - server.used > IDLE_SECONDS


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
