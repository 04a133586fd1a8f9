"""What is in the cluster's ConfigMap and what should be there: nothing that a node may still need is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fracgpu.kube.plugin import MANAGED_BY, MANAGER
from fracgpu.plan import Json


def owner(config_map: Json) -> str | None:
    """Who else a ConfigMap belongs to; None where it carries our mark."""
    metadata = config_map["metadata"]
    mark = (metadata.get("labels") or {}).get(MANAGED_BY)
    if mark == MANAGER:
        return None
    managers = {one.get("manager") for one in metadata.get("managedFields") or ()}
    return mark or ", ".join(sorted(name for name in managers if name)) or "somebody else"


def merged(there: Json | None, wanted: Mapping[str, str]) -> dict[str, str]:
    """The data to apply: every key that we have written before, and those wanted now.

    Server-side apply takes away what a manager owned and no longer says. A key that pools outside this run need too
    keeps the resources that it shares for them.
    """
    now: Mapping[str, str] = (there or {}).get("data") or {}
    ours = {key: text for key, text in now.items() if key in _applied(there or {})}
    return {**ours, **{key: _with_resources(now.get(key), text) for key, text in wanted.items()}}


def _applied(config_map: Json) -> set[str]:
    """The data keys that our field manager owns."""
    found: set[str] = set()
    for entry in config_map.get("metadata", {}).get("managedFields") or ():
        if entry.get("manager") == MANAGER and entry.get("operation") == "Apply":
            fields = (entry.get("fieldsV1") or {}).get("f:data") or {}
            found |= {name.removeprefix("f:") for name in fields if name.startswith("f:")}
    return found


def changed(there: Json | None, data: Mapping[str, str]) -> list[str]:
    """Keys that are there and would mean something else."""
    now: Mapping[str, str] = (there or {}).get("data") or {}
    return sorted(key for key, text in data.items() if key in now and parsed(now[key]) != parsed(text))


def settled(config_map: Json) -> Json:
    """Of a ConfigMap as the API reports it, what can be compared with what we apply."""
    metadata = config_map["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": dict(metadata.get("labels") or {}),
        },
        "data": dict(config_map.get("data") or {}),
    }


def parsed(text: str) -> Any:
    """A config as data, so that spelling does not count; text that is no YAML stays text."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _with_resources(now: str | None, wanted: str) -> str:
    """The wanted config, which shares besides its own what the one there shares, where they are alike otherwise."""
    import yaml

    if now is None:
        return wanted
    before, after = parsed(now), parsed(wanted)
    if _without(before) != _without(after):
        return wanted
    names = {one["name"]: one for one in (*_shared(before), *_shared(after))}
    if len(names) == len(list(_shared(after))):
        return now if before == after else wanted
    for body in _sharings(after):
        body["resources"] = [names[name] for name in sorted(names)]
    return str(yaml.safe_dump(after, sort_keys=False))


def _sharings(config: Any) -> Iterator[dict[str, Any]]:
    sharing = config.get("sharing") if isinstance(config, dict) else None
    for body in (sharing or {}).values():
        if isinstance(body, dict) and isinstance(body.get("resources"), list):
            yield body


def _shared(config: Any) -> Iterator[dict[str, Any]]:
    for body in _sharings(config):
        yield from (one for one in body["resources"] if isinstance(one, dict) and "name" in one)


def _without(config: Any) -> Any:
    """A config but for the names of what it shares; how many shares of each stays."""
    if not isinstance(config, dict):
        return config
    replicas = sorted({str(one.get("replicas")) for one in _shared(config)})
    sharing = {
        how: {key: value for key, value in body.items() if key != "resources"} if isinstance(body, dict) else body
        for how, body in (config.get("sharing") or {}).items()
    }
    return {**config, "sharing": sharing, "replicas": replicas}
