"""The pools that an offline command is about: of a file, of flags, or, by name alone, one that exists."""

from __future__ import annotations

from fracgpu.catalog.models import ProviderName
from fracgpu.cli.flags import SpecFlags
from fracgpu.cli.spec_of import FLAG_ORIGIN, documents, one_document
from fracgpu.manifest import Document


def pool_meant(name: str | None, flags: SpecFlags, *, yes: bool = False) -> Document:
    """The one pool that is meant. Raises Invalid where files hold several."""
    if flags.describes or name is None:
        return one_document(name, flags)
    return pools_meant(name, flags, yes=yes)[0]


def pools_meant(
    name: str | None, flags: SpecFlags, cloud: ProviderName | None = None, *, yes: bool = False
) -> list[Document]:
    """Files and flags need no cloud. A name and nothing that describes a pool is a pool of the cluster meant.

    Raises NotFound where the cluster has no pool of that name.
    """
    if flags.describes or name is None:
        return documents(name, flags, cloud)
    from fracgpu.cli.connect import connect
    from fracgpu.cli.promised import cluster_meant
    from fracgpu.operations.listing import found
    from fracgpu.providers import provider

    where = cluster_meant(flags, yes=yes)
    written, _ = provider(where.provider).read(found(connect(where), name))
    return [Document(written, FLAG_ORIGIN)]
