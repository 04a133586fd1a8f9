"""Doctor without a cluster: who is signed in where, and what to do next."""

from __future__ import annotations

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import NotSignedIn
from fracgpu.operations.doctor import Check, State, examine_clouds
from fracgpu.providers import Identity

CLOUDS = tuple(ProviderName)


def signed_in(*able: ProviderName) -> list[Check]:
    def identify(cloud: ProviderName) -> Identity:
        if cloud in able:
            return Identity("ada@example.com", "account-1")
        raise NotSignedIn(f"nobody at {cloud.value}", hint="sign in")

    return list(examine_clouds(CLOUDS, identify))


def test_one_cloud_is_enough() -> None:
    *clouds, last = signed_in(ProviderName.GKE)
    assert [check.state for check in clouds] == [State.WARNING, State.OK, State.WARNING]
    assert all(check.error is None for check in clouds)
    assert "ada@example.com, account account-1" in clouds[1].message
    assert [check.hint for check in clouds] == ["sign in", None, "sign in"]
    assert "--provider gke" in str(last.hint)


def test_nobody_anywhere_is_a_failure() -> None:
    *clouds, last = signed_in()
    assert {check.error.code for check in clouds if check.error} == {"not-signed-in"}
    assert len(clouds) == len(CLOUDS)
    assert "--sandbox" in str(last.hint)
