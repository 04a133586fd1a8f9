"""All clouds at once where none, or not all, can be asked."""

from __future__ import annotations

import pytest

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import FracgpuError, Invalid, NotSignedIn, Unreachable
from fracgpu.operations.everywhere import listed_in_all_clouds
from fracgpu.providers import Session
from fracgpu.resolve import ClusterRef

ACCOUNTS = [ClusterRef(name, "") for name in ProviderName]


def ends(errors: dict[ProviderName, FracgpuError]) -> FracgpuError:
    def connect(account: ClusterRef) -> Session:
        raise errors[account.provider]

    with pytest.raises(FracgpuError) as caught:
        listed_in_all_clouds(ACCOUNTS, connect, load())
    return caught.value


def test_nobody_is_signed_in_anywhere() -> None:
    absent = [NotSignedIn("no"), Invalid.one("missing-field", "no region is named"), NotSignedIn("no")]
    error = ends(dict(zip(ProviderName, absent, strict=True)))
    assert error.code == "not-signed-in"
    assert "doctor" in str(error.hint)


def test_what_is_broken_is_told_before_what_is_absent() -> None:
    error = ends(dict(zip(ProviderName, [NotSignedIn("no"), Unreachable("down"), NotSignedIn("no")], strict=True)))
    assert error.message == "down"
