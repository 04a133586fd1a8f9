"""A node with GPUs, as far as a boot script can tell: `nvidia-smi` and `systemctl` over a state file.

Run as `python gpu_node.py STATE COMMAND ARGUMENTS`. It behaves as the real ones do where it matters:

- on Ampere the mode is pending until a reset, and a reset fails while anything holds the GPU, or on a machine that
  cannot reset at all;
- instances are placed one after another at the highest free start of their profile, so that small ones before large
  ones leave no room;
- a boot keeps the mode of Ampere, and no instance.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False  # as typing has it, without importing it: this runs once a command
if TYPE_CHECKING:
    from typing import Any

    State = dict[str, Any]

HOLDERS = ("nvidia-persistenced", "nvidia-dcgm", "dcgm")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main(path: str, command: str, *words: str) -> int:
    with open(path) as file:  # noqa: PTH123 - pathlib takes longer to import than all this takes to run
        state: State = json.load(file)
    state["calls"].append([command, *words])
    try:
        return COMMANDS[command](state, list(words))
    finally:
        with open(path, "w") as file:  # noqa: PTH123
            json.dump(state, file)


def nvidia_smi(state: State, words: list[str]) -> int:
    if words == ["-L"]:
        return show(state)
    if words == ["--gpu-reset"]:
        return reset(state)
    if words == ["--query-gpu=mig.mode.current", "--format=csv,noheader"]:
        for gpu in state["gpus"]:
            say("Enabled" if gpu["mode"] else "Disabled")
        return 0
    mig = words[0] == "mig"
    at = words.index("-i")
    chosen = [state["gpus"][int(index)] for index in words[at + 1].split(",")]
    rest = words[int(mig) : at] + words[at + 2 :]
    return max([instances(state, gpu, rest) if mig else turn_on(state, gpu, rest) for gpu in chosen])


def show(state: State) -> int:
    for index, gpu in enumerate(state["gpus"]):
        say(f"GPU {index}: NVIDIA A100-SXM4-40GB (UUID: GPU-{index})")
        for number, (name, _, _) in enumerate(gpu["instances"]):
            say(f"  MIG {name:<12} Device {number:>2}: (UUID: MIG-{index}-{number})")
    return 0


def turn_on(state: State, gpu: State, words: list[str]) -> int:
    assert words == ["-mig", "1"], words
    gpu["pending"] = True
    if not state["ampere"] and not held(state):
        gpu["mode"] = True
    else:
        say("Warning: MIG mode is in pending enable state")
    return 0


def held(state: State) -> bool:
    return any(name in state["active"] for name in HOLDERS)


def reset(state: State) -> int:
    if held(state) or not state["resets"]:
        say("GPU is currently in use by another client or cannot be reset.")
        return 1
    for gpu in state["gpus"]:
        gpu.update(mode=gpu["pending"], instances=[])
    return 0


def instances(state: State, gpu: State, words: list[str]) -> int:
    if not gpu["mode"]:
        say("No MIG-enabled devices found.")
        return 6
    if words in (["-dci"], ["-dgi"]):
        gone = bool(gpu["instances"])
        gpu["instances"] = gpu["instances"] if words == ["-dci"] else []
        return 0 if gone else 6
    assert words[0] == "-cgi", words
    assert words[2:] == ["-C"], words
    return 0 if all(created(state, gpu, name) for name in words[1].split(",")) else 19


def created(state: State, gpu: State, word: str) -> bool:
    for name, profile in state["profiles"].items():
        if word in (name, str(profile["id"])) and not (state["refuses"] or gpu.get("broken")):
            return placed(gpu, name, profile)
    say(f"Unable to create a GPU instance on GPU using profile {word}: Invalid Argument")
    return False


def placed(gpu: State, name: str, profile: State) -> bool:
    taken = {unit for _, start, size in gpu["instances"] for unit in range(start, start + size)}
    for start in sorted(profile["starts"], reverse=True):
        if not taken & set(range(start, start + profile["size"])):
            gpu["instances"].append([name, start, profile["size"]])
            return True
    say(f"Unable to create a GPU instance using profile {name}: Insufficient Resources")
    return False


def systemctl(state: State, words: list[str]) -> int:
    match words:
        case ["is-active", "--quiet", name]:
            return 0 if name in state["active"] else 3
        case ["stop", name]:
            state["active"].remove(name)
        case ["start", name]:
            state["active"].append(name)
        case ["enable", name]:
            state["enabled"].append(name)
        case ["reboot"]:
            state["rebooting"] = True
        case ["daemon-reload"]:
            pass
        case _:
            raise AssertionError(words)
    return 0


COMMANDS = {"nvidia-smi": nvidia_smi, "systemctl": systemctl}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
