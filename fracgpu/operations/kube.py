"""From a session with a cloud to its cluster's Kubernetes API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from fracgpu.errors import FracgpuError
from fracgpu.providers import Session

if TYPE_CHECKING:
    from fracgpu.kube.session import Kube

T = TypeVar("T")


def open_kube(session: Session, *, hasty: bool = False) -> Kube:
    """A new connection, with credentials as fresh as the cloud gives them; the client is imported here. `hasty`: each
    call is made once and waits seconds, for answers that one can do without.

    Raises what `Session.kube_access` raises, NotSignedIn and PartNotInstalled.
    """
    from fracgpu.kube.session import HASTY, PATIENT, Kube

    return Kube(session.kube_access(), HASTY if hasty else PATIENT)


class Asking:
    """A connection for long work, opened when first used and anew after an error: EKS's tokens live for a quarter of an
    hour. A context manager."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kube: Kube | None = None

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        if self._kube is not None:
            self._kube.__exit__()
            self._kube = None

    def ask(self, call: Callable[[Kube], T]) -> T:
        """What the call answers. Raises what `open_kube` and the call raise."""
        if self._kube is None:
            self._kube = open_kube(self._session)
        try:
            return call(self._kube)
        except FracgpuError:
            self.__exit__()
            raise
