"""From a session with a cloud to its cluster's Kubernetes API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fracgpu.providers import Session

if TYPE_CHECKING:
    from fracgpu.kube.session import Kube


def open_kube(session: Session, *, hasty: bool = False) -> Kube:
    """A new connection, with credentials as fresh as the cloud gives them; the client is imported here. `hasty`: each
    call is made once and waits seconds, for answers that one can do without.

    Raises what `Session.kube_access` raises, NotSignedIn and PartNotInstalled.
    """
    from fracgpu.kube.session import HASTY, PATIENT, Kube

    return Kube(session.kube_access(), HASTY if hasty else PATIENT)
