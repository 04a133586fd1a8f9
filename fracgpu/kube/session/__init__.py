"""A cluster's Kubernetes API; the only place that imports the Kubernetes client, and that translates its errors.

`connection` makes the client of a login, `api` is what is asked, `failures` the errors.
"""

from __future__ import annotations

from fracgpu.kube.session.api import Kube
from fracgpu.kube.session.connection import HASTY, PATIENT

__all__ = ["HASTY", "PATIENT", "Kube"]
