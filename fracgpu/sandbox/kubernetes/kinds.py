"""The kinds of one cluster: those of Kubernetes itself, and those that CustomResourceDefinitions add."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from fracgpu.sandbox.kubernetes.resources import BY_PATH, RESOURCES, Resource
from fracgpu.sandbox.world import Json

Path = tuple[str, str, str]
"""(group, version, plural)."""


class Kinds:
    """Which kinds are served. A custom one stays the same object for as long as its definition says the same."""

    def __init__(self) -> None:
        self._custom: dict[Path, Resource] = {}

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        path = (group, version, plural)
        return BY_PATH.get(path) or self._custom.get(path)

    def every(self) -> tuple[Resource, ...]:
        return (*RESOURCES, *self._custom.values())

    def groups(self) -> dict[str, dict[str, list[Resource]]]:
        """Group -> version -> kinds; the core group is the empty name."""
        found: dict[str, dict[str, list[Resource]]] = {}
        for row in self.every():
            found.setdefault(row.group, {}).setdefault(row.version, []).append(row)
        return found

    def define(self, definitions: Iterable[Json]) -> list[Resource]:
        """Serve what these definitions say, and no other custom kinds; gives those that are served no more."""
        wanted = {(row.group, row.version, row.plural): row for body in definitions for row in _defined(body)}
        gone = [row for path, row in self._custom.items() if path not in wanted]
        self._custom = {path: self._kept(path, row) for path, row in wanted.items()}
        return gone

    def _kept(self, path: Path, row: Resource) -> Resource:
        """The row itself; where one is known already, the known one, under which its objects are stored."""
        known = self._custom.get(path)
        if known is None:
            return row
        for part in fields(row):
            setattr(known, part.name, getattr(row, part.name))
        return known


def _defined(definition: Json) -> list[Resource]:
    """The kinds of a definition, one a version. Objects of one version are not shown in another."""
    spec = definition["spec"]
    names = spec["names"]
    return [
        Resource(
            spec["group"],
            version["name"],
            names["plural"],
            names["kind"],
            spec.get("scope") == "Namespaced",
            tuple(names.get("shortNames") or ()),
            tuple(name for name in ("status",) if name in (version.get("subresources") or {})),
            tuple(names.get("categories") or ()),
            columns=tuple((row["name"], row["jsonPath"]) for row in version.get("additionalPrinterColumns") or ()),
            schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
        )
        for version in spec.get("versions") or ()
        if version.get("served")
    ]
