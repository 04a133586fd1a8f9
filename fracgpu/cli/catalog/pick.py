"""GPUs and providers as typed, found in the catalog or refused with what was meant; and why nothing was found."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.catalog import query
from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import Gpu, ProviderName
from fracgpu.cli import output
from fracgpu.errors import Invalid, warning

GpuOption = Annotated[str | None, typer.Option("--gpu", help="GPU, as a100-40gb, T4, h100 ...", show_default=False)]
ProviderOption = Annotated[str | None, typer.Option("--provider", help="aks, gke or eks", show_default=False)]


def gpus_called(catalog: Catalog, text: str | None) -> tuple[Gpu, ...]:
    """The GPUs of that name or family, all of them without a name. Raises Invalid `unknown-gpu`."""
    if text is None:
        return catalog.gpus()
    found = query.find_gpus(catalog, text)
    if not found:
        near = query.nearest_gpus(catalog, text)
        raise Invalid.one(
            "unknown-gpu", f"no GPU is called {text}", field="--gpu", nearest=near, hint="fracgpu catalog gpus"
        )
    return found


def providers_called(text: str | None) -> tuple[ProviderName, ...]:
    """The cloud of that name, all of them without a name. Raises Invalid."""
    if text is None:
        return tuple(ProviderName)
    from fracgpu.spec import read_word

    word = read_word(text)
    if word not in set(ProviderName):
        clouds = tuple(ProviderName)
        raise Invalid.one(
            "invalid-value", f"--provider {text}: one of {', '.join(clouds)}", field="--provider", nearest=clouds
        )
    return (ProviderName(word),)


def say_nothing_found(why: str, *, nearest: tuple[str, ...] = (), hint: str | None = None) -> None:
    """An empty list is an answer, and says nothing of its reason: that goes to stderr."""
    output.say_notes([warning("nothing-found", why, nearest=nearest, hint=hint)])
