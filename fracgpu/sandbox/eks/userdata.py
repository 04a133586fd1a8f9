"""User data of launch templates: decoding it, and what a script in it makes of the GPUs of an Amazon Linux node."""

from __future__ import annotations

import base64
import re
import string
from email import message_from_string

from fracgpu.sandbox.eks.bottlerocket import BadUserData
from fracgpu.sandbox.eks.cards import Card, fits, profile_called
from fracgpu.sandbox.world import Cuts

_ASSIGNED = re.compile(r"^\s*(?:export |readonly |local )?([A-Za-z_]\w*)=(\"[^\"\n]*\"|'[^'\n]*'|\S*)", re.MULTILINE)
_ENABLE = re.compile(r"nvidia-smi\s(?P<flags>[^\n]*)(?:-mig|--multi-instance-gpu)[ =]1")
_CREATE = re.compile(
    r"nvidia-smi\s+mig\b(?P<before>[^\n]*?)(?:-cgi|--create-gpu-instance)[ =]+"
    r"[\"']?(?P<names>[0-9a-z.+,-]+)(?P<after>[^\n]*)"
)
_COMPUTE = re.compile(r"nvidia-smi\s[^\n]*\bmig\b[^\n]*(?:-cci|--create-compute-instance)")
_COMPUTE_TOO = re.compile(r"\s-C\b|--default-compute-instance")
_GPUS = re.compile(r"(?:-i|--id)[ =]+[\"']?(?P<list>[^\s\"']+)")

NOT_CUT = "device {} has no MIG devices configured"
"""What the device plugin says of a GPU in MIG mode without instances."""


class NotCut(ValueError):
    """MIG mode is on and the script made no instances that work; the text is the device plugin's."""


def decode(data: str | None) -> str:
    """The text behind the base64; empty for none."""
    return base64.b64decode(data).decode("utf-8", "replace") if data else ""


def scripts(text: str) -> list[str]:
    """The shell scripts of MIME user data. Raises BadUserData as EKS does, which wants Amazon Linux's data in MIME."""
    if not text.strip():
        return []
    message = message_from_string(text)
    if not message.is_multipart():
        raise BadUserData("User data was not in the MIME multipart format.")
    parts = [part for part in message.walk() if part.get_content_type() == "text/x-shellscript"]
    return [bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace") for part in parts]


def cut_by(script: str, card: Card, gpus: int) -> Cuts | None:
    """What the script makes of each GPU with `nvidia-smi`; None where it leaves MIG alone. Raises NotCut.

    Variables are followed where they are set to plain text. MIG mode for GPUs that are only known at boot is taken to
    be for those that get instances.
    """
    if not card.profiles:
        return None
    plain = _expanded(script)
    made, on = list(_CREATE.finditer(plain)), list(_ENABLE.finditer(plain))
    if not made and not on:
        return None
    computing = _COMPUTE.search(plain) is not None
    cuts: list[dict[str, int]] = [{} for _ in range(gpus)]
    for line in made:
        of = _listed(line["before"] + line["after"])
        works = computing or _COMPUTE_TOO.search(line["before"] + line["after"])
        for gpu in range(gpus) if of is None else of:
            cuts[gpu] = _instances(card, line["names"]) if works and gpu < gpus else {}
    enabled = {gpu for line in on for gpu in _enabled(line["flags"], cuts)}
    for gpu, cut in enumerate(cuts):
        if bool(cut) != (gpu in enabled):
            raise NotCut(NOT_CUT.format(gpu))
    return tuple(cuts)


def _listed(flags: str) -> list[int] | None:
    """The GPUs that `-i` names; None for all of them, and for what is only known at boot."""
    found = _GPUS.search(flags)
    numbers = found["list"].split(",") if found else []
    return [int(number) for number in numbers] if numbers and all(map(str.isdecimal, numbers)) else None


def _enabled(flags: str, cuts: list[dict[str, int]]) -> list[int]:
    listed = _listed(flags)
    if listed is not None:
        return listed
    return [gpu for gpu, cut in enumerate(cuts) if cut or not _GPUS.search(flags)]


def _instances(card: Card, text: str) -> dict[str, int]:
    """The instances of one `-cgi` on a GPU; none where the driver would refuse."""
    names = [profile_called(card, word) for word in text.split(",") if word]
    return {name: names.count(name) for name in names} if names and fits(card, names) else {}


def _expanded(script: str) -> str:
    """The script with plain values in place of their variables, one command a line."""
    values = {name: value.strip("\"'") for name, value in _ASSIGNED.findall(script) if "$" not in value}
    return re.sub(r"&&|;", "\n", string.Template(script).safe_substitute(values))
