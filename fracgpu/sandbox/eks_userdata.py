"""User data of launch templates: decoding it, and what a script in it makes of the GPUs of an Amazon Linux node."""

from __future__ import annotations

import base64
import re
from email import message_from_string

from fracgpu.sandbox.eks_bottlerocket import BadUserData
from fracgpu.sandbox.eks_cards import Card

_CREATE = re.compile(r"nvidia-smi\s+mig\b[^\n]*?(?:-cgi|--create-gpu-instance)[ =]+[\"']?(?P<profiles>[0-9a-z.+,-]+)")


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
    """The slices that the script cuts each GPU into with `nvidia-smi mig -cgi`; None where it cuts nothing.

    Profiles by name only; a name that the card does not have, or more than fit of one, make `nvidia-smi` fail, which
    leaves the GPU whole.
    """
    found = _CREATE.search(script)
    if found is None or not card.profiles:
        return None
    names = [name for name in found["profiles"].split(",") if name]
    counts = {name: names.count(name) for name in names}
    if any(count > card.profiles.get(name, 0) for name, count in counts.items()):
        return {}
    return counts
