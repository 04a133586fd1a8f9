"""From a `[[family]]` of a machines file to its Machines.

A family says once what its machines share; `machines` has one inline table each, whose keys win. Where GPUs are
attached to a general machine (GKE N1), `gpus` lists what may be attached: each machine becomes one row a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.catalog.models import CpuArchitecture, Machine, ProviderName
from fracgpu.catalog.rows import Table, broken, build


def expand(provider: ProviderName, family: Table, file: str) -> Iterator[Machine]:
    """The machines of a family, in its order. Raises BrokenCatalog naming `file` and the machine."""
    shared = dict(family)
    machines, attached = shared.pop("machines", []), shared.pop("gpus", None)
    for own in machines:
        where = f"{file}::{own.get('name', '?')}"
        table = {**shared, **own}
        if attached is None:
            yield _machine(provider, table, where)
        else:
            for choice in attached:
                yield from _attach(provider, table, choice, where)


def _machine(provider: ProviderName, table: dict[str, Any], where: str) -> Machine:
    given: dict[str, Any] = {
        "provider": provider,
        "gpu_fraction": _fraction(table.pop("gpu_fraction", 1), where),
        "architecture": _architecture(table.pop("architecture", CpuArchitecture.X86_64), where),
    }
    given.update(dict.fromkeys({"vcpus", "memory_gib"} - table.keys()))
    if "gpu_counts" not in table:
        given["gpu_counts"] = (table.get("gpu_count", 0),)
    return build(Machine, table, where, **given)


def _attach(provider: ProviderName, table: Table, choice: Table, where: str) -> Iterator[Machine]:
    """The machine with one GPU model attached; none where the machine has more vCPUs than that GPU allows."""
    rest = dict(choice)
    if "vcpus" not in table:
        raise broken(where, "vcpus must be known where GPUs are attached: they decide how many")
    try:
        limits = list(zip(rest.pop("counts"), rest.pop("max_vcpus"), strict=True))
    except (KeyError, ValueError) as error:
        raise broken(where, "every entry of gpus needs counts and max_vcpus of one length") from error
    counts = [count for count, most in limits if table["vcpus"] <= most]
    if counts:
        yield _machine(provider, {**table, **rest, "gpu_count": counts[0], "gpu_counts": counts}, where)


def _fraction(value: Any, where: str) -> float:
    """`gpu_fraction` is written as "1/6", because its decimals would not say what is meant."""
    if value == 1:
        return 1.0
    parts = [int(part) for part in str(value).split("/") if part.isdecimal()]
    if len(parts) != 2 or not 0 < parts[0] < parts[1]:
        raise broken(where, f'gpu_fraction must be a text like "1/4", not {value!r}')
    return parts[0] / parts[1]


def _architecture(value: str, where: str) -> CpuArchitecture:
    try:
        return CpuArchitecture(value)
    except ValueError as error:
        raise broken(where, f"architecture must be x86_64 or arm64, not {value!r}") from error
