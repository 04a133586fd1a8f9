"""What is published works where it is installed: the catalog travels in the wheel, the sources in the sdist."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.xdist_group("wheel")  # one worker builds for all


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from it, made without any download."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def installed(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment that holds the wheel, and borrows its requirements from this one."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, str(_only(distributions, "*.whl"))], check=True, capture_output=True)
    _borrow_requirements(python)
    return python.parent


def _borrow_requirements(python: Path) -> None:
    """Let `python` import what is installed here, but not the editable fracgpu: its .pth file is not followed."""
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def _only(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def _run(folder: Path, *command: str) -> str:
    """What `command` prints in `folder`, outside the source tree and with no path into it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_catalog_comes_out_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    items = json.loads(_run(tmp_path, str(installed / "fracgpu"), "catalog", "gpus", "-o", "json"))["items"]
    sources = {path.stem for path in (ROOT / "profiles" / "gpus").glob("*.toml")}
    assert {item["name"] for item in items} == sources


def test_the_package_in_use_is_the_installed_one(installed: Path, tmp_path: Path) -> None:
    script = "import fracgpu, pathlib; print(pathlib.Path(fracgpu.__file__).parent)"
    package = Path(_run(tmp_path, str(installed / "python"), "-c", script).strip())
    assert package.is_relative_to(installed.parent)
    assert not (package.parent / "profiles").exists()
    shipped = {path.relative_to(package / "_profiles") for path in (package / "_profiles").rglob("*.toml")}
    assert shipped == {path.relative_to(ROOT / "profiles") for path in (ROOT / "profiles").rglob("*.toml")}


def test_the_version_is_told_without_the_command_line(installed: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from fracgpu.__main__ import main; main(); print(*{'typer', 'rich', 'yaml'} & set(sys.modules))"
    )
    told = _run(tmp_path, str(installed / "python"), "-c", script, "--version")
    assert told.split("\n")[:2] == [_run(tmp_path, str(installed / "fracgpu"), "--version").strip(), ""]


def test_the_wheel_holds_the_package_and_nothing_else(distributions: Path) -> None:
    with zipfile.ZipFile(_only(distributions, "*.whl")) as wheel:
        names = wheel.namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"fracgpu"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_sdist_can_be_tested(distributions: Path) -> None:
    with tarfile.open(_only(distributions, "*.tar.gz")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"Makefile", "LICENSE", "tests/conftest.py", "requirements.txt", "requirements-dev.txt"} <= names
    assert any(name.startswith("profiles/gpus/") for name in names)
