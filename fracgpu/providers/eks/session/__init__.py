"""The only place that imports AWS's SDK: botocore, for EKS, EC2 and a signature of STS.

`door` signs in, `calls` makes calls and translates errors, `templates` and `cluster` look after what is beside a group,
`groups` is the Session.
"""

from __future__ import annotations

from fracgpu.catalog.models import ProviderName
from fracgpu.providers import Identity
from fracgpu.providers.access import Access
from fracgpu.providers.eks.session.calls import ask, translating
from fracgpu.providers.eks.session.door import SANDBOX_REGION, configured_region, sign_in
from fracgpu.providers.eks.session.groups import EksSession
from fracgpu.resolve import ClusterRef


def connect(cluster: ClusterRef, access: Access) -> EksSession:
    """A session with the cluster's region. Raises NotSignedIn, and Invalid where no region is known."""
    return EksSession(sign_in(cluster, access))


def identity(access: Access) -> Identity:
    """What STS calls the caller. Raises NotSignedIn."""
    anywhere = ClusterRef(ProviderName.EKS, "", region=configured_region(access) or SANDBOX_REGION)
    with translating():
        said = ask(sign_in(anywhere, access).client("sts"), "get_caller_identity")
    return Identity(said["Arn"], said["Account"])
