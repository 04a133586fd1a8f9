"""The one seam between fracgpu and wherever the clouds are: public, sovereign, behind a private endpoint, or the
sandbox.

An `Access` comes from the command line, the environment or the user's own configuration, never from a file of the
folder that one happens to stand in: who chooses the endpoint receives the token.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """Where to call and as whom. None is the SDK's own endpoint and identity.

    With `sandbox` the credentials are fixed dummies, no identity chain is loaded, and proxies are passed by; without it
    an endpoint must be https, so that a token never travels in the clear.
    """

    sandbox: bool = False
    azure_endpoint: str | None = None
    """ARM's base URL, such as https://management.chinacloudapi.cn."""
    azure_scope: str | None = None
    """The OAuth scope of that endpoint, `<endpoint>/.default` where it is not said."""
    gke_endpoint: str | None = None
    """host[:port] of the GKE API (gRPC)."""
    aws_endpoint: str | None = None
    """One URL for EKS, EC2, IAM and STS; the sandbox has one."""
    kubernetes_endpoint: str | None = None
    """Base URL under which the sandbox serves every cluster's Kubernetes API."""
