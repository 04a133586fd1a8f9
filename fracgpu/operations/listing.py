"""What pools there are, in the file form with their status."""

from __future__ import annotations

from fracgpu.errors import Finding, NotFound
from fracgpu.manifest import document_of
from fracgpu.operations.clock import Clock
from fracgpu.operations.wait import asked
from fracgpu.plan import Json
from fracgpu.providers import Observed, Provider, Session


def pool_document(seen: Observed, cloud: Provider) -> Json:
    """The pool as a NodePool document with `status`."""
    written, _ = cloud.read(seen)
    document = document_of(written)
    document["status"] = {**seen.status.to_json(), "managed": seen.ours, "fleet": seen.fleet}
    return document


def notes_on(seen: Observed, cloud: Provider) -> tuple[Finding, ...]:
    """What the file form cannot say of this pool."""
    return cloud.read(seen)[1]


def found(session: Session, name: str, clock: Clock | None = None) -> Observed:
    """The pool of that name. Raises NotFound with the names of those that exist."""
    seen = asked(lambda: session.observe(name), clock)
    if seen is None:
        names = tuple(pool.name for pool in asked(session.list, clock))
        message = f"the cluster has no pool {name}"
        raise NotFound(message, nearest=names, hint="fracgpu pool list --all")
    return seen


def has_gpu(document: Json) -> bool:
    """The pool's machine carries a GPU that the catalog or the cloud knows of."""
    return bool(document["spec"].get("gpu"))
