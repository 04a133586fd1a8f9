"""What a command loads: only what its answer needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SDKS = ("azure", "boto3", "botocore", "google", "grpc", "kubernetes", "moto", "msal")
GKE = ("--provider", "gke", "--project", "p", "--location", "us-central1", "--cluster", "c")
PROBE = """
import json, os, sys
from fracgpu.__main__ import main
os._exit = sys.exit  # else nobody could look at what is loaded
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""


def loaded(*words: str) -> set[str]:
    """The modules in memory when a command has ended."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words], capture_output=True, text=True, check=True, env=os.environ, timeout=60
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def under(modules: set[str], *roots: str) -> set[str]:
    return {name for name in modules if name.split(".")[0] in roots}


OFFLINE = {
    "create": ("pool", "create", *GKE, "--mig", "1g.5gb", "--dry-run"),
    "create as json": ("pool", "create", *GKE, "--time-slicing", "4", "--gpu", "l4", "--dry-run", "-o", "json"),
    "explain": ("pool", "explain", "--provider", "gke", "--mig", "1g.5gb"),
    "render": ("pool", "render", "--as", "gcloud", "--mig", "1g.5gb"),
    "convert": ("convert", "--", "gcloud", "container", "node-pools", "create", "a", "-m", "a2-highgpu-1g"),
    "gpus": ("catalog", "gpus"),
    "machines": ("catalog", "machines", "--provider", "eks"),
    "layouts": ("catalog", "layouts", "--gpu", "a100-40gb"),
    "schema": ("schema",),
    "config": ("config", "show"),
    "create --help": ("pool", "create", "--help"),
}


@pytest.mark.parametrize("words", OFFLINE.values(), ids=OFFLINE)
def test_an_offline_answer_loads_no_sdk_and_no_rich(words: tuple[str, ...]) -> None:
    assert under(loaded(*words), *SDKS, "rich", "numpy", "requests", "urllib3") == set()


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("-h",), ()], ids=str)
def test_version_and_help_load_next_to_nothing(words: tuple[str, ...]) -> None:
    modules = loaded(*words)
    assert under(modules, *SDKS, "rich", "typer", "pydantic", "yaml", "click") == set()
    assert {name for name in modules if name.startswith("fracgpu.")} <= {
        "fracgpu.__main__",
        "fracgpu.cli",
        "fracgpu.cli.commands",
        "fracgpu.cli.streams",
    }


@pytest.mark.parametrize(
    "words", [("pool", "--help"), ("catalog", "gpus"), ("catalog", "gpus", "--help")], ids=" ".join
)
def test_what_reads_no_spec_loads_no_models_of_one(words: tuple[str, ...]) -> None:
    assert not {"pydantic", "pydantic_core", "yaml"} & loaded(*words)


def test_flags_are_read_without_a_reader_of_files() -> None:
    assert under(loaded(*OFFLINE["create"]), "yaml", "importlib_metadata", "email") == set()


def test_one_cloud_is_loaded_for_one_clouds_pool() -> None:
    clouds = {name.split(".")[2] for name in loaded(*OFFLINE["create"]) if name.startswith("fracgpu.providers.")}
    assert not {"aks", "eks"} & clouds


def test_pydantics_plugins_are_left_alone_and_its_loader_is_there_for_whoever_asks() -> None:
    script = """
from fracgpu.cli.quickstart import quicken
quicken()
from fracgpu.spec import NodePool
assert NodePool.model_validate({"spec": {"gpu": "t4"}}).spec.gpu == "t4"
import sys
assert "importlib.metadata" not in sys.modules
from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP, get_plugins
assert (PYDANTIC_ENTRY_POINT_GROUP, list(get_plugins())) == ("pydantic", [])
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)


def test_the_program_ends_as_python_does_where_somebody_looks_on() -> None:
    """Otherwise it leaves at once, and a profiler would have nothing to show."""
    words = [sys.executable, "-m", "cProfile", "-m", "fracgpu", "catalog", "gpus", "-o", "name"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    assert "a100-40gb" in ran.stdout
    assert "function calls" in ran.stdout


def test_the_program_runs_as_a_module_and_as_a_script() -> None:
    script = Path(sys.executable).with_name("fracgpu")
    outs = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        for command in ([sys.executable, "-m", "fracgpu", "--version"], [str(script), "--version"])
    ]
    assert outs[0] == outs[1] != ""
