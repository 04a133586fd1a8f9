"""The loader: lazy, cached, and strict about what a file says, with file and row in the message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fracgpu
from fracgpu.catalog.load import Catalog, load, profiles_folder
from fracgpu.catalog.models import CpuArchitecture, Machine, ProviderName
from fracgpu.catalog.rows import BrokenCatalog

GPU = """
product = "NVIDIA Test 8GB"
architecture = "Test"
memory_gb = 8
aliases = ["Test"]

[[profile]]
name = "1g.4gb"
compute_slices = 1
max_per_gpu = 2
engines = { copy = 1 }
placements = { starts = [0, 1], size = 1 }
sources = ["us"]

[[source]]
key = "us"
text = "https://example.com/"
"""

MACHINES = """
[[family]]
gpu = "test-8gb"
mig = true
sources = ["us"]
machines = [
  { name = "big", gpu_count = 2, vcpus = 8, memory_gib = 32 },
  { name = "part", gpu_count = 1, vcpus = 2, memory_gib = 4, gpu_fraction = "1/3", gpu_memory_gib = 2.5, mig = false },
]

[[family]]
accessory = true
gpus = [
  { gpu = "test-8gb", accelerator = "test", counts = [1, 2], max_vcpus = [4, 16] },
  { gpu = "other-8gb", counts = [1], max_vcpus = [4] },
]
machines = [
  { name = "n1", vcpus = 4, memory_gib = 15 },
  { name = "n2", vcpus = 8, memory_gib = 30 },
]

[[source]]
key = "us"
text = "https://example.com/"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gpus").mkdir()
    (tmp_path / "machines").mkdir()
    (tmp_path / "gpus" / "test-8gb.toml").write_text(GPU)
    (tmp_path / "machines" / "gke.toml").write_text(MACHINES)
    return tmp_path


def test_the_processes_catalog_is_one() -> None:
    assert load() is load()
    assert load().gpu("a100-40gb") is load().gpu("a100-40gb")
    assert load().machines(ProviderName.AKS) is load().machines(ProviderName.AKS)


def test_folder_is_beside_the_package_in_a_source_tree() -> None:
    assert profiles_folder() == Path(fracgpu.__file__).parents[1] / "profiles"


def test_folder_inside_an_installed_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("site/fracgpu/_profiles/gpus", "site/profiles/gpus"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(fracgpu, "__file__", str(tmp_path / "site/fracgpu/__init__.py"))
    assert profiles_folder() == tmp_path / "site/fracgpu/_profiles"


def test_missing_files_say_where_they_were_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fracgpu, "__file__", str(tmp_path / "fracgpu/__init__.py"))
    with pytest.raises(fracgpu.errors.Internal, match=re.escape(str(tmp_path / "fracgpu" / "_profiles"))):
        profiles_folder()


def test_gpu_and_its_profiles(folder: Path) -> None:
    gpu = Catalog(folder).gpu("test-8gb")
    [profile] = gpu.profiles
    assert (gpu.key, gpu.memory_gb, gpu.mig) == ("test-8gb", 8.0, True)
    assert (profile.gpu, profile.name, profile.engines and profile.engines.copy) == ("test-8gb", "1g.4gb", 1)
    assert profile.placements is not None
    assert (profile.placements.starts, profile.placements.verified) == ((0, 1), True)
    assert [source.key for source in gpu.sources] == ["us"]


def test_only_what_is_asked_for_is_read(folder: Path) -> None:
    (folder / "gpus" / "broken.toml").write_text('aliases = ["Bent"]\n\n[[profile]]\nname = ')
    catalog = Catalog(folder)
    assert catalog.gpu("test-8gb").memory_gb == 8
    assert catalog.gpu_aliases["broken"] == ("Bent",)
    with pytest.raises(BrokenCatalog, match=r"gpus/broken\.toml: "):
        catalog.gpus()


def test_family_is_shared_and_its_machines_win(folder: Path) -> None:
    whole, part = Catalog(folder).machines(ProviderName.GKE)[:2]
    assert (whole.name, whole.gpu, whole.mig, whole.gpu_counts) == ("big", "test-8gb", True, (2,))
    assert (part.mig, part.gpu_fraction, part.gpu_memory_gib) == (False, 1 / 3, 2.5)
    assert part.architecture is CpuArchitecture.X86_64


def test_attached_gpus_make_one_row_each_with_what_the_vcpus_allow(folder: Path) -> None:
    rows = [machine for machine in Catalog(folder).machines(ProviderName.GKE) if machine.accessory]
    assert [_attached(row) for row in rows] == [
        ("n1", "test-8gb", "test", (1, 2)),
        ("n1", "other-8gb", None, (1,)),
        ("n2", "test-8gb", "test", (2,)),
    ]
    assert [row.gpu_count for row in rows] == [1, 1, 2]


def test_machines_by_name_has_all_rows_of_a_name(folder: Path) -> None:
    index = Catalog(folder).machines_by_name(ProviderName.GKE)
    assert [machine.gpu for machine in index["n1"]] == ["test-8gb", "other-8gb"]


def test_sources_of_machines(folder: Path) -> None:
    assert [source.key for source in Catalog(folder).machine_sources(ProviderName.GKE)] == ["us"]


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ('product = "NVIDIA Test 8GB"\n', "", "gpus/test-8gb.toml: missing product"),
        ("memory_gb = 8", "memory_gb = 8\nmemmory = 9", "gpus/test-8gb.toml: unknown key 'memmory'"),
        ("memory_gb = 8", 'memory_gb = "8"', "gpus/test-8gb.toml: memory_gb must be a number, not '8'"),
        ("memory_gb = 8", "memory_gb = true", "gpus/test-8gb.toml: memory_gb must be a number, not True"),
        ("memory_gb = 8", 'memory_gb = 8\nkey = "x"', "gpus/test-8gb.toml: unknown key 'key'"),
        ("memory_gb = 8", "memory_gb = 8\ngeometries = []", "geometries cannot be written in a file"),
        ("memory_gb = 8", "memory_gb = = 8", "gpus/test-8gb.toml: Invalid value"),
        ("max_per_gpu = 2", "", "gpus/test-8gb.toml::1g.4gb: missing max_per_gpu"),
        ("max_per_gpu = 2", "max_per_gpu = 2.0", "gpus/test-8gb.toml::1g.4gb: max_per_gpu must be int, not 2.0"),
        ("size = 1", "sise = 1", "gpus/test-8gb.toml::1g.4gb placements: unknown key 'sise'"),
        ("copy = 1", "copies = 1", "gpus/test-8gb.toml::1g.4gb engines: unknown key 'copies'"),
        ('sources = ["us"]', 'sources = "us"', "gpus/test-8gb.toml::1g.4gb: sources must be a list, not 'us'"),
        ('sources = ["us"]', "sources = [1]", "gpus/test-8gb.toml::1g.4gb: sources must be str, not 1"),
        ('key = "us"\n', "", "gpus/test-8gb.toml::source ?: missing key"),
    ],
)
def test_broken_gpu_file_names_file_and_row(folder: Path, written: str, instead: str, message: str) -> None:
    _rewrite(folder / "gpus" / "test-8gb.toml", written, instead)
    with pytest.raises(BrokenCatalog, match=re.escape(message)) as caught:
        Catalog(folder).gpu("test-8gb")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("gpu_count = 2, ", "", "machines/gke.toml::big: missing gpu_count"),
        ("gpu_count = 2, ", "gpus_count = 2, ", "machines/gke.toml::big: unknown key 'gpus_count'"),
        ('"1/3"', "0.33", 'machines/gke.toml::part: gpu_fraction must be a text like "1/4", not 0.33'),
        ("mig = true", 'architecture = "arm"', "machines/gke.toml::big: architecture must be x86_64 or arm64"),
        ("vcpus = 8, memory_gib = 32", "vcpus = 8.5", "machines/gke.toml::big: vcpus must be int, not 8.5"),
        ("vcpus = 8, memory_gib = 32", 'memory_gib = "x"', "machines/gke.toml::big: memory_gib must be a number"),
        ("max_vcpus = [4, 16]", "max_vcpus = [4]", "machines/gke.toml::n1: every entry of gpus needs counts"),
        ("counts = [1], ", "", "machines/gke.toml::n1: every entry of gpus needs counts"),
        ('name = "n1", vcpus = 4,', 'name = "n1",', "machines/gke.toml::n1: vcpus must be known"),
        ("[[source]]", "[[sauce]]", "machines/gke.toml: unknown key 'sauce'"),
    ],
)
def test_broken_machines_file_names_file_and_machine(folder: Path, written: str, instead: str, message: str) -> None:
    _rewrite(folder / "machines" / "gke.toml", written, instead)
    with pytest.raises(BrokenCatalog, match=re.escape(message)):
        Catalog(folder).machines(ProviderName.GKE)


def test_unknown_key_is_an_error_not_a_crash(folder: Path) -> None:
    with pytest.raises(BrokenCatalog, match=r"gpus/\.\./machines/gke\.toml: there is no such file"):
        Catalog(folder).gpu("../machines/gke")


def _attached(machine: Machine) -> tuple[str, str, str | None, tuple[int, ...]]:
    return machine.name, machine.gpu, machine.accelerator, machine.gpu_counts


def _rewrite(path: Path, written: str, instead: str) -> None:
    text = path.read_text()
    assert written in text
    path.write_text(text.replace(written, instead, 1))
