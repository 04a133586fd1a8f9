"""The only place that imports Azure's SDK: azure-mgmt-containerservice and azure-identity.

`identity` signs in, `arm` makes calls and translates errors, `cluster` and `compute` read what is around the pools, and
`pools` is the Session.
"""

from __future__ import annotations

from fracgpu.providers.access import Access
from fracgpu.providers.aks.session.arm import Arm
from fracgpu.providers.aks.session.identity import identity, sign_in
from fracgpu.providers.aks.session.pools import AksSession
from fracgpu.resolve import ClusterRef

__all__ = ["connect", "identity"]


def connect(cluster: ClusterRef, access: Access) -> AksSession:
    """A session with the cluster's subscription. Raises NotSignedIn, and Invalid where no subscription is known."""
    door = sign_in(cluster, access)
    return AksSession(Arm(door), door.cluster, access)
