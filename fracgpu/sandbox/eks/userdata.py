"""User data of launch templates: decoding it, and what a script in it makes of the GPUs of an Amazon Linux node."""

from __future__ import annotations

import base64
import re
import string
from email import message_from_string

from fracgpu.sandbox.eks.bottlerocket import BadUserData
from fracgpu.sandbox.eks.cards import Card, fits

_ASSIGNED = re.compile(r"^\s*(?:export |readonly |local )?([A-Za-z_]\w*)=(\"[^\"\n]*\"|'[^'\n]*'|\S*)", re.MULTILINE)
_ENABLED = re.compile(r"nvidia-smi\s[^\n]*(?:-mig|--multi-instance-gpu)[ =]1")
_CREATE = re.compile(
    r"nvidia-smi\s[^\n]*\bmig\b[^\n]*?(?:-cgi|--create-gpu-instance)[ =]+[\"']?([0-9a-z.+,-]+)([^\n]*)"
)
_COMPUTE = re.compile(r"nvidia-smi\s[^\n]*\bmig\b[^\n]*(?:-cci|--create-compute-instance)")

NOT_CUT = "device 0 has no MIG devices configured"
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


def cut_by(script: str, card: Card) -> dict[str, int] | None:
    """What the script makes of each GPU with `nvidia-smi`; None where it leaves MIG alone. Raises NotCut.

    Variables are followed where they are set to plain text; a different layout for each GPU cannot be shown and the
    first one counts for all.
    """
    if not card.profiles:
        return None
    plain = _expanded(script)
    made = _CREATE.search(plain)
    if made is None and not _ENABLED.search(plain):
        return None
    if made is None or not _ENABLED.search(plain):
        raise NotCut(NOT_CUT)
    names = [name for name in made[1].split(",") if name]
    works = re.search(r"\s-C\b|--default-compute-instance", made[2]) or _COMPUTE.search(plain)
    if not works or not names or not fits(card, names):
        raise NotCut(NOT_CUT)
    return {name: names.count(name) for name in names}


def _expanded(script: str) -> str:
    values = {name: value.strip("\"'") for name, value in _ASSIGNED.findall(script) if "$" not in value}
    return string.Template(script).safe_substitute(values)
