"""The only place that imports Google's SDK: google-cloud-container over gRPC.

`channel` signs in and opens a connection, `api` makes calls in JSON and translates errors, `pools` is the Session.
"""

from __future__ import annotations

from fracgpu.providers.access import Access
from fracgpu.providers.gke.session.api import Api
from fracgpu.providers.gke.session.channel import identity, sign_in
from fracgpu.providers.gke.session.pools import GkeSession
from fracgpu.resolve import ClusterRef

__all__ = ["connect", "identity"]


def connect(cluster: ClusterRef, access: Access) -> GkeSession:
    """A session with the cluster's project. Raises NotSignedIn, and Invalid where no project is known."""
    door = sign_in(cluster, access)
    return GkeSession(Api(door.client), door.cluster, door.tokens, plain=access.sandbox)
