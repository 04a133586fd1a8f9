"""Every row of the catalog as a parameter, with its file in the test's id: `gpus/a100-40gb.toml::1g.5gb`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Machine, Profile, ProviderName

DATA = Path(__file__).parent / "data"
GPUS = load().gpus()
PROFILES = [profile for gpu in GPUS for profile in gpu.profiles]
MACHINES = [machine for provider in ProviderName for machine in load().machines(provider)]

ROWS: dict[str, list[Gpu] | list[Profile] | list[Machine]] = {
    "gpu": list(GPUS),
    "profile": PROFILES,
    "placed_profile": [profile for profile in PROFILES if profile.placements],
    "aks_profile": [profile for profile in PROFILES if profile.aks],
    "machine": MACHINES,
    "part_machine": [machine for machine in MACHINES if machine.fractional],
    **{f"{provider}_machine": [m for m in MACHINES if m.provider is provider] for provider in ProviderName},
}
"""What a test is run for, by the name of its argument."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, rows in ROWS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, rows, ids=_file_and_row)


def _file_and_row(row: Gpu | Profile | Machine) -> str:
    match row:
        case Gpu():
            return f"gpus/{row.key}.toml"
        case Profile():
            return f"gpus/{row.gpu}.toml::{row.name}"
        case Machine():
            return f"machines/{row.provider}.toml::{row.name} with {row.gpu}"


@pytest.fixture(scope="session")
def figures() -> Any:
    """An independent copy of the figures of every GPU and profile."""
    return _data("mig-catalog-figures.json")


@pytest.fixture(scope="session")
def gke_partitions() -> Any:
    """GKE's partition sizes and counts by accelerator."""
    return _data("gke-partitions.json")


@pytest.fixture(scope="session")
def mig_parted() -> Any:
    """The named configs of mig-parted: rows of device filter and instances."""
    return _data("mig-parted-configs.json")


def _data(name: str) -> Any:
    content = json.loads((DATA / name).read_text())
    content.pop("about")
    return content
