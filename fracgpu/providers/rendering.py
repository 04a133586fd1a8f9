"""One of a cloud's forms for another tool, or the word that it has no such form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from fracgpu.errors import Invalid
from fracgpu.providers import Form

Renderer = TypeVar("Renderer")


def renderer_of(form: Form, renderers: Mapping[Form, Renderer], cloud: str) -> Renderer:
    """What renders this form. Raises Invalid with the forms that there are where the cloud has not this one."""
    if form in renderers:
        return renderers[form]
    words = tuple(one.value for one in renderers)
    hint = " or ".join(f"--as {word}" for word in words)
    message = f"{form} makes no node pools of {cloud}"
    raise Invalid.one("not-expressible", message, field="--as", nearest=words, hint=hint)
