"""The pools that a Kubernetes command is about: of -f, of SPEC FLAGS, or those that exist."""

from __future__ import annotations

from fracgpu.catalog.load import load
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.flags import SpecFlags
from fracgpu.cli.spec_of import documents, one_document, validated
from fracgpu.errors import Invalid
from fracgpu.kube.promise import Promise
from fracgpu.operations.promises import Promises, declared, existing
from fracgpu.resolve import ClusterRef
from fracgpu.spec import Cluster


def promises(name: str | None, flags: SpecFlags, *, yes: bool = False) -> Promises:
    """Those of files or flags, offline; else the pool called `name`, else all GPU pools of the cluster."""
    if flags.describes:
        return declared(documents(name, flags), load())
    return existing(connect(cluster_meant(flags, yes=yes)), load(), name)


def one_promise(name: str | None, flags: SpecFlags, *, yes: bool = False) -> Promise:
    """The one pool that a command is about. Raises Invalid where none is said or files hold several."""
    if flags.describes:
        return declared([one_document(name, flags)], load()).items[0]
    if name is None:
        message = "no pool is named: give its NAME, a file with -f, or what it shares"
        raise Invalid.one("usage", message, hint="--provider gke --mig 1g.5gb, for one")
    return existing(connect(cluster_meant(flags, yes=yes)), load(), name).items[0]


def cluster_meant(flags: SpecFlags, *, yes: bool = False) -> ClusterRef:
    """The cluster that the flags name, else the next source."""
    return named_cluster(cluster_flags(flags), yes=yes)


def cluster_flags(flags: SpecFlags) -> Cluster:
    given = {
        "provider": flags.provider,
        "name": flags.cluster,
        "resourceGroup": flags.resource_group,
        "subscription": flags.subscription,
        "project": flags.project,
        "location": flags.location,
        "region": flags.region,
    }
    said = {key: value for key, value in given.items() if value is not None}
    return validated({"spec": {"cluster": said}}).spec.cluster
