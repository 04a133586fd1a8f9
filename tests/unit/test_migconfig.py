"""Names and documents of mig-parted configs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu
from fracgpu.migconfig import balanced, config_document, config_name, is_custom
from fracgpu.sharing import Layout, Mig, Strategy

BALANCED = json.loads((Path(__file__).parent / "data" / "mig-parted-balanced.json").read_text(encoding="utf-8"))["rows"]
CATALOG = load()
MIG_GPUS = [gpu for gpu in CATALOG.gpus() if gpu.mig]


def mig(*devices: Layout | None) -> Mig:
    return Mig(devices, Strategy.MIXED)


@pytest.mark.parametrize("gpu", MIG_GPUS, ids=lambda gpu: gpu.key)
def test_a_gpu_full_of_one_profile_has_nvidias_name(gpu: Gpu) -> None:
    for profile in gpu.profiles:
        name = config_name(gpu, mig(((profile.name, profile.max_per_gpu),)))
        assert profile.mig_parted_config in (name, None)
        assert not is_custom(name)


@pytest.mark.parametrize(("filters", "instances"), BALANCED)
def test_balanced_is_what_nvidias_table_has(filters: list[str], instances: dict[str, int]) -> None:
    known = [gpu for gpu in MIG_GPUS if any(f"0x{pci}10DE" in filters for pci in gpu.pci_device_ids)]
    assert known
    assert all(balanced(gpu) == instances for gpu in known)
    layout = tuple(instances.items())
    assert all(config_name(gpu, mig(layout)) == "all-balanced" for gpu in known)


def test_a_layout_of_ones_own_has_a_name_of_ours() -> None:
    gpu = CATALOG.gpu("a100-40gb")
    name = config_name(gpu, mig((("3g.20gb", 1), ("2g.10gb", 1), ("1g.5gb", 1))))
    assert is_custom(name)
    assert name.startswith("fracgpu-1x3g.20gb-1x2g.10gb-1x1g.5gb-")


def test_names_are_label_values_however_long_the_layout() -> None:
    gpu = CATALOG.gpu("a100-40gb")
    long = mig(*[(("3g.20gb", 1), ("2g.10gb", 1), ("1g.5gb", index)) for index in (1, 2)] * 4)
    name = config_name(gpu, long)
    assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?", name)
    assert len(name) <= 63
    assert name != config_name(gpu, mig(*long.devices[:-1]))


BIG = (("3g.20gb", 1), ("2g.10gb", 1), ("1g.5gb", 2))
TWO = (("3g.20gb", 1), ("1g.5gb", 2))
SMALL = (("1g.5gb", 7),)


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        ([BIG, SMALL], ["1x3g.20gb-1x2g.10gb-2x1g.5gb", "7x1g.5gb"]),
        ([*[BIG] * 4, *[None] * 4], ["4of-1x3g.20gb-1x2g.10gb-2x1g.5gb", "4of-whole"]),
        ([SMALL, *[BIG] * 7], ["7x1g.5gb", "7of-1x3g.20gb-1x2g.10gb-2x1g.5gb"]),
        ([None, TWO] * 4, ["whole", "1x3g.20gb-2x1g.5gb", "order-01010101"]),
        ([BIG, SMALL] * 4, ["8gpus-2layouts"]),
    ],
)
def test_a_long_layout_is_shortened_to_whole_words(devices: list[Layout | None], words: list[str]) -> None:
    name = config_name(CATALOG.gpu("a100-40gb"), mig(*devices))
    assert re.sub("-[0-9a-f]{8}$", "", name) == f"fracgpu-{'_'.join(words)}"


def test_the_document_names_every_cut_and_what_the_manager_falls_back_to() -> None:
    a100, h100 = CATALOG.gpu("a100-40gb"), CATALOG.gpu("h100-80gb-sxm")
    some = mig((("1g.5gb", 2),), None)
    document = config_document([(a100, some), (a100, mig((("1g.10gb", 4),))), (h100, mig((("1g.10gb", 7),)))])
    configs: dict[str, Any] = document["mig-configs"]
    assert document["version"] == "v1"
    assert configs["all-disabled"] == [{"devices": "all", "mig-enabled": False}]
    assert configs[config_name(a100, some)] == [
        {"devices": [0], "mig-enabled": True, "mig-devices": {"1g.5gb": 2}},
        {"devices": [1], "mig-enabled": False, "mig-devices": {}},
    ]
    of_a100, of_h100 = configs["all-1g.10gb"]
    assert of_a100["mig-devices"] == {"1g.10gb": 4}
    assert "0x20B010DE" in of_a100["device-filter"]
    assert of_h100["mig-devices"] == {"1g.10gb": 7}
