"""A pool that is rendered as a command and converted back is the same pool."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.catalog.query import expressible
from fracgpu.convert import convert
from fracgpu.errors import Invalid, Level
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.providers import Form
from fracgpu.spec import NodePool

CATALOG = load()
CLUSTERS: dict[str, dict[str, str]] = {
    "eks": {"provider": "eks", "name": "c", "region": "us-east-1"},
    "aks": {"provider": "aks", "name": "c", "resourceGroup": "rg", "subscription": "s"},
    "gke": {"provider": "gke", "name": "c", "project": "p", "location": "us-central1"},
}
WORDS = st.text("abcxyz019", min_size=1, max_size=8)
TEXTS = st.text("abc XYZ'\"$\\-.9", min_size=1, max_size=8).map(lambda text: f"a{text}z")
COUNTS = st.integers(0, 40)


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


SIZES = st.one_of(
    some(count=COUNTS),
    st.tuples(COUNTS, COUNTS, COUNTS).map(sorted).map(lambda row: {"min": row[0], "count": row[1], "max": row[2] + 1}),
)
SHARES = st.one_of(
    st.just({}),
    st.builds(lambda n: {"timeSlicing": {"replicas": n}}, st.integers(2, 48)),
    st.builds(lambda n: {"mps": {"replicas": n}}, st.integers(2, 48)),
)
TAINTS = st.lists(st.builds("{}={}:{}".format, WORDS, WORDS, st.sampled_from(["NoSchedule", "NoExecute"])), max_size=2)
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "nodes": SIZES,
    "capacity": st.sampled_from(["on-demand", "spot"]),
    "disk": st.integers(40, 2000).map(lambda size: {"sizeGb": size}),
    "labels": st.dictionaries(WORDS, WORDS, max_size=2),
    "taints": TAINTS,
    "gpuTaint": st.booleans(),
}
AKS = some(
    **COMMON,
    tags=st.dictionaries(WORDS, TEXTS, max_size=2),
    zones=st.just(["1", "2"]),
    aks=some(
        osSku=st.sampled_from(["Ubuntu", "AzureLinux"]),
        mode=st.sampled_from(["User"]),
        evictionPolicy=st.sampled_from(["Delete", "Deallocate"]),
        scaleDownMode=st.sampled_from(["Delete", "Deallocate"]),
        spotMaxPrice=st.sampled_from([0.5, 2.25]),
        driver=st.sampled_from(["Install", "None"]),
        maxPods=st.integers(10, 250),
        version=st.just("1.33"),
        fips=st.booleans(),
        upgradeSettings=some(
            maxSurge=st.just("33%"),
            drainTimeoutInMinutes=st.integers(1, 99),
            undrainableNodeBehavior=st.sampled_from(["Cordon", "Schedule"]),
        ),
    ),
)
GKE = some(
    **COMMON,
    tags=st.dictionaries(WORDS, WORDS, max_size=2),
    zones=st.just(["us-central1-b"]),
    gke=some(
        driver=st.sampled_from(["Install", "None"]),
        driverVersion=st.sampled_from(["DEFAULT", "LATEST"]),
        diskType=st.just("pd-ssd"),
        imageType=st.just("COS_CONTAINERD"),
        locationPolicy=st.sampled_from(["BALANCED", "ANY"]),
        networkTags=st.just(["one", "two"]),
        serviceAccount=st.just("gpu@p.iam.gserviceaccount.com"),
        oauthScopes=st.just(["https://www.googleapis.com/auth/cloud-platform"]),
        autoUpgrade=st.booleans(),
        autoRepair=st.booleans(),
        maxSurge=st.integers(1, 3),
        maxUnavailable=st.integers(1, 3),
        maxPods=st.integers(8, 110),
        version=st.just("1.33.1-gke.100"),
        gvnic=st.booleans(),
    ),
)
EKS = some(
    **COMMON,
    tags=st.dictionaries(WORDS, TEXTS, max_size=2),
    eks=st.fixed_dictionaries(
        {"subnets": st.just(["subnet-1", "subnet-2"]), "nodeRole": st.just("arn:aws:iam::1:role/r")},
        optional={
            "backend": st.sampled_from(["bottlerocket", "gpu-operator"]),
            "updateConfig": st.just({"maxUnavailable": 2}),
            "nodeRepairConfig": st.just({"enabled": True}),
            "version": st.just("1.33"),
            "diskType": st.just("io1"),
        },
    ),
)
MACHINES = {
    cloud: [row for row in CATALOG.machines(ProviderName(cloud)) if row.on_demand and not row.accessory and row.vcpus]
    for cloud in CLUSTERS
}


@st.composite
def prepared(draw: st.DrawFn, cloud: str, specs: st.SearchStrategy[dict[str, Any]]) -> Prepared:
    """A random pool that its cloud's rules accept."""
    machine = draw(st.sampled_from(MACHINES[cloud]))
    sharing = {} if machine.fractional else dict(draw(SHARES))
    profiles = CATALOG.gpu(machine.gpu).profiles if machine.mig else ()
    profiles = tuple(one for one in profiles if expressible(ProviderName(cloud), one))
    cut = draw(st.booleans())
    if cut and profiles and (cloud == "gke" or "mps" not in sharing):
        sharing["mig"] = {"profile": draw(st.sampled_from(profiles)).name}
    spec = {**draw(specs), "cluster": CLUSTERS[cloud], "machine": machine.name, "sharing": sharing}
    pool = NodePool.model_validate({"metadata": {"name": "pool1"}, "spec": spec})
    try:
        return prepare(pool, CATALOG)
    except Invalid:
        assume(False)
        raise


def converted(pool: Prepared, form: Form) -> Prepared:
    text, notes = pool.provider.render(form, pool.resources, pool.pool)
    assume(not any(note.level is Level.WARNING for note in notes))
    conversion = convert([text])
    assert [note for note in conversion.notes if note.code == "not-in-file-form"] == []
    return prepare(conversion.pool, CATALOG)


@given(prepared("aks", AKS))
def test_az(pool: Prepared) -> None:
    again = converted(pool, Form.AZ)
    assert again.resources == pool.resources


@given(prepared("gke", GKE))
def test_gcloud(pool: Prepared) -> None:
    again = converted(pool, Form.GCLOUD)
    assert _but_for_the_taint(again) == _but_for_the_taint(pool)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # EKS's rules refuse many of these pools
@given(prepared("eks", EKS))
def test_aws(pool: Prepared) -> None:
    again = converted(pool, Form.AWS)
    assert again.resources == pool.resources


def _but_for_the_taint(pool: Prepared) -> dict[str, Any]:
    """GKE puts its taint on the nodes whether it is said or not."""
    body: dict[str, Any] = {**pool.resources[-1].body}
    taints = [one for one in body["config"].get("taints", ()) if one["key"] != "nvidia.com/gpu"]
    body["config"] = {**body["config"], "taints": taints}
    return body
