"""Importing a cloud's SDK, which happens where a session or an identity is asked for and nowhere before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fracgpu.errors import PartNotInstalled


@contextmanager
def importing(whose: str, packages: tuple[str, ...], install: str) -> Iterator[None]:
    """What is imported inside raises PartNotInstalled where one of these top-level packages is missing.

    `whose` SDK it is stands in the message, `install` is what pip is to be told.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(packages):
            raise
        message = f"{whose} SDK is not installed: {error.name} is missing"
        raise PartNotInstalled(message, hint=f"pip install {install}") from error
