"""The names of GPUs: no two claim one, and everybody's spelling finds its GPU."""

from __future__ import annotations

from collections import defaultdict

import pytest

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu
from fracgpu.catalog.query import find_gpus
from fracgpu.catalog.spelling import words

SPELLINGS = {
    "a30-24gb": ["A30", "a30", "NVIDIA A30"],
    "a100-40gb": ["a100-40", "A100_40GB", "nvidia-tesla-a100", "A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", "a100.40gb"],
    "a100-80gb": ["a100-80", "A100_80GB", "nvidia-a100-80gb", "NVIDIA-A100-80GB-PCIe", "A100-80GB-SXM"],
    "h100-80gb-sxm": ["H100_80GB", "nvidia-h100-80gb", "nvidia-h100-mega-80gb", "NVIDIA H100 80GB HBM3", "H100-MEGA"],
    "h100-80gb-pcie": ["NVIDIA H100 PCIe", "H100-PCIE-80GB"],
    "h100-94gb-nvl": ["H100_94GB", "H100NVL", "NVIDIA H100 NVL", "h100-nvl"],
    "gh200-96gb": ["H100_96GB", "NVIDIA GH200 480GB"],
    "h200-141gb-sxm": ["nvidia-h200-141gb", "NVIDIA H200", "h200.141gb", "H200-SXM"],
    "h200-141gb-nvl": ["H200NVL", "NVIDIA H200 NVL"],
    "h20-96gb": ["NVIDIA H20"],
    "h20-141gb": ["NVIDIA H20-3e"],
    "b200-180gb": ["B200", "nvidia-b200", "b200.180gb"],
    "gb200-186gb": ["GB200", "nvidia-gb200"],
    "b300-269gb": ["B300", "b300.269gb"],
    "gb300-278gb": ["GB300", "nvidia-gb300"],
    "rtx-pro-6000-blackwell-96gb": [
        "nvidia-rtx-pro-6000",
        "RTXPRO6000",
        "RTX PRO Server 6000",
        "rtxpro6000.96gb",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    ],
    "rtx-pro-4500-blackwell-32gb": ["RTX PRO 4500", "RTXPRO4500"],
    "t4-16gb": ["T4", "nvidia-tesla-t4", "Tesla T4", "Tesla-T4"],
    "t4g-16gb": ["T4g", "NVIDIA T4G"],
    "l4-24gb": ["L4", "nvidia-l4", "NVIDIA L4"],
    "l40s-48gb": ["L40S", "NVIDIA-L40S"],
    "a10-24gb": ["A10", "A10_24GB", "NVIDIA A10"],
    "a10g-24gb": ["A10G", "NVIDIA A10G"],
    "v100-16gb": ["nvidia-tesla-v100", "Tesla V100-SXM2-16GB"],
    "v100-32gb": ["V100-32GB", "Tesla V100-SXM2-32GB"],
    "p100-16gb": ["P100", "nvidia-tesla-p100", "Tesla P100-PCIE-16GB"],
    "p4-8gb": ["P4", "nvidia-tesla-p4", "Tesla P4"],
}
"""As GKE, EC2, Bottlerocket, the driver, TrueFoundry, dstack and SkyPilot spell them."""

FAMILIES = {
    "a100": {"a100-40gb", "a100-80gb"},
    "nvidia-a100": {"a100-40gb", "a100-80gb"},
    "H100": {"h100-80gb-sxm", "h100-80gb-pcie", "h100-94gb-nvl", "h100-94gb-sxm", "h100-64gb-sxm"},
    "H200": {"h200-141gb-sxm", "h200-141gb-nvl"},
    "nvidia-tesla-h200": {"h200-141gb-sxm", "h200-141gb-nvl"},
    "H20": {"h20-96gb", "h20-141gb"},
    "Tesla V100": {"v100-16gb", "v100-32gb"},
    "rtx-pro": {"rtx-pro-6000-blackwell-96gb", "rtx-pro-5000-blackwell-48gb", "rtx-pro-4500-blackwell-32gb"},
}


def test_no_name_is_claimed_twice() -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    names = [(name, gpu.key) for gpu in load().gpus() for name in (gpu.key, *gpu.aliases)]
    for name, key in names:
        owners["".join(words(name))].add(key)
    assert {name: keys for name, keys in owners.items() if len(keys) > 1} == {}


def test_an_alias_says_what_the_key_does_not(gpu: Gpu) -> None:
    squeezed = ["".join(words(name)) for name in (gpu.key, *gpu.aliases)]
    assert len(squeezed) == len(set(squeezed))


def test_key_and_aliases_find_the_gpu(gpu: Gpu) -> None:
    for name in (gpu.key, *gpu.aliases):
        for written in (name, name.upper(), name.lower(), name.replace("-", "_"), name.replace("-", " ")):
            assert find_gpus(load(), written) == (gpu,), written
    assert find_gpus(load(), gpu.product) == (gpu,)


@pytest.mark.parametrize(("written", "key"), [(name, key) for key, names in SPELLINGS.items() for name in names])
def test_spelling_of_others(written: str, key: str) -> None:
    assert [gpu.key for gpu in find_gpus(load(), written)] == [key]


@pytest.mark.parametrize(("word", "keys"), FAMILIES.items())
def test_family_word(word: str, keys: set[str]) -> None:
    assert {gpu.key for gpu in find_gpus(load(), word)} == keys


@pytest.mark.parametrize("word", ["", " ", "nvidia", "gb", "mi300x", "a1", "rtx-6000", "gaudi2", "100"])
def test_no_gpu_has_this_name(word: str) -> None:
    assert find_gpus(load(), word) == ()
