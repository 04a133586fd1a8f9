"""The sandbox's GKE: google.container.v1.ClusterManager over gRPC and over REST, one state.

`gke_calls` has the calls, on the JSON form of their messages; `gke_rules`, `gke_gpu_rules`, `gke_labels`,
`gke_versions` and `gke_update` what is refused; `gke_pool` and `gke_cluster` what the server adds; `gke_operations` and
`gke_endings` how work goes on and ends; `gke_nodes` what a pool's nodes are; `gke_grpc` and `gke_rest` speak the two
protocols.
"""

from __future__ import annotations

from fracgpu.sandbox.gke_grpc import grpc_handlers
from fracgpu.sandbox.gke_rest import app, register

__all__ = ["app", "grpc_handlers", "register"]
