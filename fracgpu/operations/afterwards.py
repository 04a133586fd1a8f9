"""After a pool has been made: are its slices there? What only the user can put right is said, and not waited for."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from fracgpu.catalog.load import Catalog
from fracgpu.errors import CloudFailure, Finding, NoAccess, SlicesMissing, TimedOut, warning
from fracgpu.kube.installed import config_keys, plugins
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import Verification
from fracgpu.operations.kube import open_kube
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Event, Item, Outcome, Work
from fracgpu.operations.verify import missing, until_verified, verify
from fracgpu.operations.wait import Wait
from fracgpu.providers import Observed, Session

SLICES_TAKE = 600.0
"""Seconds that nodes have, once the pool is ready, to show their slices: the plugin starts, a first boot reboots."""


def verified(work: Work, promise: Promise, session: Session, wait: Wait, catalog: Catalog) -> Work:
    """The work, and a look at the nodes of what it made. Slices that do not come make the item a failed one; a cluster
    that cannot be asked, or that lacks the plugin or its config, is a note."""
    item = yield from work
    if item.outcome is not Outcome.DONE:
        return item
    try:
        notes = yield from _looked_at(promise, session, wait, catalog)
    except SlicesMissing as error:
        return replace(item, outcome=Outcome.FAILED, error=error)
    except (CloudFailure, NoAccess) as error:
        return _noted(item, (_not_verified(promise, error.message, error.hint),))
    return _noted(item, notes) if notes else answered(item, *NEEDS)


CONFIG_NEEDED = "plugin-config-needed"
NEEDS = (CONFIG_NEEDED, "device-plugin-needed")
"""Notes of what the cluster must have for a pool's slices to show; nothing to say where they do."""


def answered(item: Item, *codes: str) -> Item:
    """The item without notes that something done since has answered."""
    return replace(item, notes=tuple(note for note in item.notes if note.code not in codes))


def _looked_at(
    promise: Promise, session: Session, wait: Wait, catalog: Catalog
) -> Generator[Event, None, tuple[Finding, ...]]:
    seen = found(session, promise.name)
    first = verify(session, seen, catalog, promise)
    if first.ok:
        return ()
    lacking = _lacking(promise, session)
    if lacking:
        return (lacking,)
    yield from _patiently(promise, seen, session, wait, catalog)
    return ()


def _patiently(
    promise: Promise, seen: Observed, session: Session, wait: Wait, catalog: Catalog
) -> Generator[Event, None, Verification]:
    limited = replace(wait, began=wait.clock.now(), limit=min(wait.left, SLICES_TAKE))
    try:
        return (yield from until_verified(session, seen, catalog, limited, promise))
    except TimedOut:
        last = verify(session, seen, catalog, promise)
        if last.ok:
            return last
        raise missing(last) from None


def _lacking(promise: Promise, session: Session) -> Finding | None:
    """What the cluster lacks that the pool cannot do without, where the plugin is the cluster's own affair."""
    if not promise.own_plugin:
        return None
    with open_kube(session) as kube:
        found = plugins(kube.daemon_sets())
        if not found:
            hint = "fracgpu plugin values --chart nvidia-device-plugin has what helm needs to install it"
            return _not_verified(promise, "the cluster has no device plugin", hint)
        maps = kube.config_maps(part.namespace for part in found)
    if promise.key and promise.key not in config_keys(found, maps):
        return _not_verified(promise, f"the cluster has no plugin config {promise.key}", "fracgpu plugin apply")
    return None


def _not_verified(promise: Promise, why: str, hint: str | None) -> Finding:
    then = f"then fracgpu pool verify {promise.name}"
    return warning("not-verified", f"{promise.name} was not verified: {why}", hint=f"{hint}; {then}" if hint else then)


def _noted(item: Item, notes: tuple[Finding, ...]) -> Item:
    return replace(item, notes=(*item.notes, *notes))
