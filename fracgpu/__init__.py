"""One GPU, many workloads: fractional GPU node pools on AKS, GKE and EKS."""

__version__ = "0.1.0"
