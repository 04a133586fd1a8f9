"""`make demo` shows what it says, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
def test_makes_proves_and_takes_away_a_pool_of_each_cloud(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [ROOT / "docs" / "demo.sh"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("1 of 1 nodes as promised") == 3
    assert done.stdout.count("deleted (") == 3
    assert list(tmp_path.iterdir()) == []
