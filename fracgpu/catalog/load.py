"""From `profiles/` to the Catalog: one file a GPU, one a cloud, each read when it is first asked for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import fracgpu
from fracgpu.catalog.machines import expand
from fracgpu.catalog.models import Engines, Gpu, Machine, Placements, Profile, ProviderName, Source
from fracgpu.catalog.rows import Table, broken, build
from fracgpu.errors import Internal


def profiles_folder() -> Path:
    """Where the catalog's files are: inside the installed package, else beside it in a source tree.

    Raises Internal where neither is there.
    """
    package = Path(fracgpu.__file__).parent
    places = (package / "_profiles", package.parent / "profiles")
    for place in places:
        if (place / "gpus").is_dir():
            return place
    raise Internal(
        f"the catalog's files are missing: neither {places[0]} nor {places[1]} exists",
        hint="Install fracgpu again; in a source tree the folder profiles/ stands beside fracgpu/.",
    )


@cache
def load() -> Catalog:
    """The catalog of this process."""
    return Catalog(profiles_folder())


class Catalog:
    """The rows of one `profiles/` folder. Reading is lazy and happens once; the rows are immutable.

    Every method raises BrokenCatalog, with file and row, where a file is not as it should be.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._gpus: dict[str, Gpu] = {}
        self._machines: dict[ProviderName, tuple[Machine, ...]] = {}
        self._sources: dict[ProviderName, tuple[Source, ...]] = {}
        self._by_name: dict[ProviderName, Mapping[str, tuple[Machine, ...]]] = {}

    @cached_property
    def gpu_keys(self) -> tuple[str, ...]:
        """All GPU keys, sorted; reads no file."""
        return tuple(sorted(path.stem for path in (self._folder / "gpus").glob("*.toml")))

    @cached_property
    def gpu_aliases(self) -> Mapping[str, tuple[str, ...]]:
        """The aliases of every GPU by its key; reads only the head of each file."""
        return MappingProxyType({key: self._aliases(key) for key in self.gpu_keys})

    def gpu(self, key: str) -> Gpu:
        """The GPU with this exact key, with all its profiles. `query.find_gpus` understands other spellings."""
        if key not in self._gpus:
            self._gpus[key] = self._read_gpu(key)
        return self._gpus[key]

    def gpus(self) -> tuple[Gpu, ...]:
        """Every GPU, sorted by key; reads every file."""
        return tuple(self.gpu(key) for key in self.gpu_keys)

    def mentions(self, key: str, word: str) -> bool:
        """Whether a GPU's file has the word in it: cheap, since the file is not parsed for it."""
        return word in _text(self._folder / f"gpus/{key}.toml")

    def machines(self, provider: ProviderName) -> tuple[Machine, ...]:
        """Every GPU machine of a cloud as its file lists them; one row a GPU model where GPUs are attached (GKE N1)."""
        if provider not in self._machines:
            self._read_machines(provider)
        return self._machines[provider]

    def machines_by_name(self, provider: ProviderName) -> Mapping[str, tuple[Machine, ...]]:
        """The machines of a cloud by case-folded name."""
        if provider not in self._by_name:
            index: dict[str, list[Machine]] = {}
            for machine in self.machines(provider):
                index.setdefault(machine.name.casefold(), []).append(machine)
            self._by_name[provider] = MappingProxyType({name: tuple(rows) for name, rows in index.items()})
        return self._by_name[provider]

    def machine_sources(self, provider: ProviderName) -> tuple[Source, ...]:
        """What the `sources` of a cloud's machines stand for."""
        self.machines(provider)
        return self._sources[provider]

    def _read_gpu(self, key: str) -> Gpu:
        if key not in self.gpu_keys:
            raise broken(f"gpus/{key}.toml", "there is no such file")
        name = f"gpus/{key}.toml"
        table = _parse(_text(self._folder / name), name)
        profiles = tuple(_profile(key, row, name) for row in table.pop("profile", []))
        sources = _sources(table.pop("source", []), name)
        return build(Gpu, table, name, key=key, profiles=profiles, sources=sources)

    def _read_machines(self, provider: ProviderName) -> None:
        name = f"machines/{provider}.toml"
        table = _parse(_text(self._folder / name), name)
        self._sources[provider] = _sources(table.pop("source", []), name)
        families = table.pop("family", [])
        if table:
            raise broken(name, f"unknown key {next(iter(table))!r}; known are family, source")
        self._machines[provider] = tuple(machine for family in families for machine in expand(provider, family, name))

    def _aliases(self, key: str) -> tuple[str, ...]:
        if key in self._gpus:
            return self._gpus[key].aliases
        name = f"gpus/{key}.toml"
        head = _head(_text(self._folder / name))
        return tuple(_parse(head, name).get("aliases", ()))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


_FIRST_ROW = re.compile(r"^\[\[", re.MULTILINE)


def _head(text: str) -> str:
    """What stands before the first row. TOML puts a file's own keys there, so it is whole TOML and quick to read."""
    row = _FIRST_ROW.search(text)
    return text[: row.start()] if row else text


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise broken(name, str(error)) from error


def _profile(gpu: str, row: Table, file: str) -> Profile:
    rest = dict(row)
    where = f"{file}::{rest.get('name', '?')}"
    engines, placements = rest.pop("engines", None), rest.pop("placements", None)
    return build(
        Profile,
        rest,
        where,
        gpu=gpu,
        engines=None if engines is None else build(Engines, engines, f"{where} engines"),
        placements=None if placements is None else build(Placements, placements, f"{where} placements"),
    )


def _sources(rows: list[Table], file: str) -> tuple[Source, ...]:
    return tuple(build(Source, row, f"{file}::source {row.get('key', '?')}") for row in rows)
