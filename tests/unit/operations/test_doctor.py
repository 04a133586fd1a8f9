"""Doctor without a cluster: who is signed in where, which clusters are there, and what to do next."""

from __future__ import annotations

import pytest

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Invalid, NotSignedIn
from fracgpu.operations.doctor import Check, State, examine_clouds
from fracgpu.providers import Identity

CLOUDS = tuple(ProviderName)


def signed_in(*able: ProviderName, clusters: int | None = 1) -> list[Check]:
    def identify(cloud: ProviderName) -> Identity:
        if cloud in able:
            return Identity("ada@example.com", "account-1")
        raise NotSignedIn(f"nobody at {cloud.value}", hint="sign in")

    def found(cloud: ProviderName) -> list[tuple[str, str]]:
        if clusters is None:
            raise Invalid.one("missing-field", "no project is named", hint="--project PROJECT")
        return [(f"c{number}", f"--provider {cloud.value} --cluster c{number}") for number in range(clusters)]

    return list(examine_clouds(CLOUDS, identify, found))


def test_one_cloud_is_enough() -> None:
    checks = signed_in(ProviderName.GKE)
    assert [(check.name, check.state) for check in checks] == [
        ("aks", State.WARNING),
        ("gke", State.OK),
        ("clusters", State.OK),
        ("eks", State.WARNING),
        ("cluster", State.WARNING),
    ]
    assert all(check.error is None for check in checks)
    assert "ada@example.com, account account-1" in checks[1].message
    assert checks[0].hint == "sign in"
    assert "fracgpu doctor --provider gke --cluster c0" in str(checks[-1].hint)


@pytest.mark.parametrize(
    ("clusters", "said"), [(0, "0 clusters there"), (9, "c0, c1, c2, c3, c4, ..."), (None, "no project")]
)
def test_which_clusters_are_there(clusters: int | None, said: str) -> None:
    checks = signed_in(ProviderName.GKE, clusters=clusters)
    assert said in next(check.message for check in checks if check.name == "clusters")
    assert all(check.error is None for check in checks)
    assert "--provider gke" in str(checks[-1].hint)


def test_nobody_anywhere_is_a_failure() -> None:
    *clouds, last = signed_in()
    assert {check.error.code for check in clouds if check.error} == {"not-signed-in"}
    assert len(clouds) == len(CLOUDS)
    assert "--sandbox" in str(last.hint)
