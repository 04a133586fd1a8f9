"""From what a person wrote to a pool with nothing left to decide."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Machine, ProviderName
from fracgpu.errors import Level
from fracgpu.model import camel
from fracgpu.resolve import PLACEHOLDER, Resolution, ResolvedPool, default_name, resolve
from fracgpu.sharing import Backend, Layout, Mig, Mps, Sharing, Strategy, TimeSlicing, Whole
from fracgpu.spec import Capacity, NodePool

CATALOG = load()
AKS = {"provider": "aks", "name": "c", "resourceGroup": "rg"}
GKE = {"provider": "gke", "name": "c", "location": "us-central1"}
EKS = {"provider": "eks", "name": "c"}
CLUSTERS = {ProviderName.AKS: AKS, ProviderName.GKE: GKE, ProviderName.EKS: EKS}
CUT_MACHINES = [
    machine for cloud in ProviderName for machine in CATALOG.machines(cloud) if machine.mig and not machine.fractional
]


def resolution(cluster: dict[str, Any] | None = None, *, name: str | None = None, **spec: Any) -> Resolution:
    body = {
        "metadata": {"name": name} if name else {},
        "spec": {"cluster": GKE if cluster is None else cluster, **spec},
    }
    return resolve(NodePool.model_validate(body), CATALOG)


def pool(cluster: dict[str, Any] | None = None, **spec: Any) -> ResolvedPool:
    found = resolution(cluster, **spec)
    assert not found.errors, found.errors
    assert found.pool is not None
    return found.pool


def errors(cluster: dict[str, Any] | None = None, **spec: Any) -> list[tuple[str, str | None]]:
    return [(one.code, one.field) for one in resolution(cluster, **spec).errors]


class TestCluster:
    @pytest.mark.parametrize(
        ("cluster", "wrong"),
        [
            ({}, [("missing-field", "spec.cluster.provider")]),
            (
                {"provider": "aks"},
                [("missing-field", "spec.cluster.name"), ("missing-field", "spec.cluster.resourceGroup")],
            ),
            ({"provider": "gke", "name": "c"}, [("missing-field", "spec.cluster.location")]),
            ({"provider": "eks"}, [("missing-field", "spec.cluster.name")]),
            ({**EKS, "resourceGroup": "rg"}, [("conflicting-fields", "spec.cluster.resourceGroup")]),
            ({**AKS, "project": "p"}, [("conflicting-fields", "spec.cluster.project")]),
            ({**GKE, "region": "r"}, [("conflicting-fields", "spec.cluster.region")]),
        ],
    )
    def test_coordinates_are_those_of_its_cloud(self, cluster: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
        assert (
            errors(cluster, machine="a2-highgpu-1g" if cluster.get("provider") == "gke" else None, gpu="a100")[
                : len(wrong)
            ]
            == wrong
        )

    def test_every_missing_coordinate_names_its_flag(self) -> None:
        hints = [one.hint for one in resolution({"provider": "aks"}, gpu="t4").errors]
        assert hints == ["--cluster NAME", "--resource-group NAME"]

    def test_a_placeholder_stands_where_no_cluster_is_needed(self) -> None:
        written = NodePool.model_validate({"spec": {"cluster": {"provider": "aks"}, "gpu": "t4"}})
        found = resolve(written, CATALOG, placeholder=True)
        assert found.pool is not None
        assert found.pool.cluster.to_json() == {"provider": "aks", "name": PLACEHOLDER}

    def test_the_coordinates_come_out_as_they_went_in(self) -> None:
        assert pool({**GKE, "project": "p"}, gpu="l4").cluster.to_json() == {**GKE, "project": "p"}


class TestHardware:
    def test_the_machine_that_fits_with_the_fewest_gpus_is_chosen_and_said(self) -> None:
        found = resolution(GKE, sharing={"mig": {"profile": "1g.5gb"}})
        assert found.pool is not None
        assert (found.pool.machine.name, found.pool.machine_chosen) == ("a2-highgpu-1g", True)
        (note,) = [one for one in found.findings if one.code == "machine-chosen"]
        assert note.level is Level.INFO
        assert "7 slices" in note.message

    def test_a_machine_that_was_named_is_not_chosen(self) -> None:
        named = pool(GKE, machine="A2-HIGHGPU-1G", sharing={"mig": {"profile": "1g.5gb"}})
        assert (named.machine.name, named.machine_chosen) == ("a2-highgpu-1g", False)

    @pytest.mark.parametrize(
        ("cluster", "spec", "wrong"),
        [
            (GKE, {}, ("missing-field", "spec.machine")),
            (GKE, {"gpu": "a1000"}, ("unknown-gpu", "spec.gpu")),
            (GKE, {"machine": "a2-highgpu-3g"}, ("unknown-machine", "spec.machine")),
            (GKE, {"machine": "g5.xlarge"}, ("unknown-machine", "spec.machine")),
            (GKE, {"machine": "a2-highgpu-1g", "gpu": "h100"}, ("machine-gpu-mismatch", "spec.machine")),
            (
                AKS,
                {"machine": "Standard_NC24ads_A100_v4", "sharing": {"mig": {"profile": "1g.5gb"}}},
                ("profile-not-on-gpu", "spec.sharing.mig.profile"),
            ),
            (
                GKE,
                {"machine": "g2-standard-4", "sharing": {"mig": {"profile": "1g.5gb"}}},
                ("gpu-not-mig-capable", "spec.sharing.mig"),
            ),
            (
                GKE,
                {"machine": "a2-highgpu-1g", "sharing": {"mig": {"profile": "tiny"}}},
                ("unknown-profile", "spec.sharing.mig.profile"),
            ),
            (
                GKE,
                {"machine": "a2-highgpu-1g", "sharing": {"mig": {"layout": {"4g.20gb": 2}}}},
                ("layout-does-not-fit", "spec.sharing.mig.layout"),
            ),
            (
                EKS,
                {"machine": "p4d.24xlarge", "sharing": {"mig": {"devices": [{"1g.5gb": 7}]}}},
                ("invalid-value", "spec.sharing.mig.devices"),
            ),
        ],
    )
    def test_what_cannot_be_had_is_said_with_what_can(
        self, cluster: dict[str, Any], spec: dict[str, Any], wrong: tuple[str, str]
    ) -> None:
        found = resolution(cluster, **spec)
        assert (found.errors[0].code, found.errors[0].field) == wrong
        assert found.errors[0].nearest or found.errors[0].hint

    def test_a_machine_that_takes_several_gpus_needs_one_named(self) -> None:
        found = resolution(GKE, machine="n1-standard-4")
        assert [one.code for one in found.errors] == ["missing-field"]
        assert len(found.errors[0].nearest) > 1
        assert pool(GKE, machine="n1-standard-4", gpu="t4", gke={"acceleratorCount": 2}).gpus_per_node == 2


class TestSharing:
    def test_a_profile_alone_fills_every_gpu_of_a_node(self) -> None:
        cut = pool(EKS, machine="p4d.24xlarge", sharing={"mig": {"profile": "1g.5gb"}}).sharing.cut
        assert cut == Mig(((("1g.5gb", 7),),) * 8, Strategy.SINGLE)

    def test_slices_that_differ_need_names_of_their_own(self) -> None:
        mixed = pool(EKS, machine="p4d.24xlarge", sharing={"mig": {"layout": {"1g.5gb": 2, "3g.20gb": 1}}}).sharing.cut
        assert isinstance(mixed, Mig)
        assert mixed.strategy is Strategy.MIXED
        assert mixed.alike == (("3g.20gb", 1), ("1g.5gb", 2))

    def test_a_gpu_that_stays_whole_needs_names_too(self) -> None:
        devices = [{"1g.5gb": 7}] + [None] * 7
        cut = pool(EKS, machine="p4d.24xlarge", sharing={"mig": {"devices": devices}}).sharing.cut
        assert isinstance(cut, Mig)
        assert (cut.whole_gpus, cut.strategy) == (7, Strategy.MIXED)

    def test_what_other_drivers_call_a_profile_is_understood_and_said(self) -> None:
        gpu, profile = next((gpu, profile) for gpu in CATALOG.gpus() for profile in gpu.profiles if profile.other_names)
        machine = next(machine for machine in CUT_MACHINES if machine.gpu == gpu.key)
        found = resolution(
            CLUSTERS[machine.provider], machine=machine.name, sharing={"mig": {"profile": profile.other_names[0]}}
        )
        assert found.pool is not None
        assert profile.name in found.pool.profiles()
        assert "name-depends-on-driver" in [one.code for one in found.findings]

    def test_shares_carry_what_was_said_of_them(self) -> None:
        slicing = {"timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True}, "renameByDefault": True}
        assert pool(EKS, machine="g5.xlarge", sharing=slicing).sharing == Sharing(Whole(), TimeSlicing(4, True, True))
        mps = {"mps": {"replicas": 4}, "configKey": "team-a"}
        assert pool(EKS, machine="g5.xlarge", sharing=mps).sharing == Sharing(Whole(), Mps(4), "team-a")


class TestNodes:
    @pytest.mark.parametrize(
        ("nodes", "aks", "resolved"),
        [
            ({}, {}, (1, 1, 1)),
            ({"count": 0}, {}, (0, 0, 0)),
            ({"count": 3}, {}, (3, 3, 3)),
            ({"min": 0, "max": 4}, {}, (0, 0, 4)),
            ({"min": 2, "max": 4}, {}, (2, 2, 4)),
            ({"count": 3, "min": 2, "max": 4}, {}, (3, 2, 4)),
            ({"max": 4}, {}, (1, 0, 4)),
            ({"max": 4}, {"mode": "System"}, (1, 1, 4)),
        ],
    )
    def test_counts_are_totals_and_what_is_open_follows(
        self, nodes: dict[str, int], aks: dict[str, str], resolved: tuple[int, int, int]
    ) -> None:
        found = pool(AKS, gpu="t4", nodes=nodes, aks=aks).nodes
        assert (found.count, found.min, found.max) == resolved
        assert found.autoscaling is (found.min < found.max)


class TestTaints:
    def test_every_pool_keeps_pods_without_a_gpu_off(self) -> None:
        assert [str(one) for one in pool(gpu="l4").taints] == ["nvidia.com/gpu=present:NoSchedule"]

    def test_a_taint_of_ones_own_with_that_key_replaces_it(self) -> None:
        taints = ["nvidia.com/gpu=true:NoExecute", "a=b:NoSchedule"]
        assert [str(one) for one in pool(gpu="l4", taints=taints).taints] == taints
        assert len(pool(gpu="l4", taints=["a=b:NoSchedule"]).taints) == 2

    def test_it_can_be_declined(self) -> None:
        assert pool(gpu="l4", gpuTaint=False).taints == ()


class TestBackend:
    @pytest.mark.parametrize(
        ("spec", "backend"),
        [
            ({"sharing": {"timeSlicing": {"replicas": 4}}}, Backend.DEVICE_PLUGIN),
            ({"sharing": {"mps": {"replicas": 4}}}, Backend.DEVICE_PLUGIN),
            ({"sharing": {"mig": {"profile": "1g.5gb"}}}, Backend.BOTTLEROCKET),
            ({"sharing": {"mig": {"profile": "1g.5gb", "strategy": "mixed"}}}, Backend.USER_DATA),
            ({"sharing": {"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 1}}}}, Backend.USER_DATA),
            ({"sharing": {"mig": {"layout": {"1g.5gb": 3}}}}, Backend.USER_DATA),
            ({"sharing": {"mig": {"profile": "1g.5gb+me"}}}, Backend.USER_DATA),
            ({"sharing": {"mig": {"profile": "1g.5gb", "backend": "gpu-operator"}}}, Backend.GPU_OPERATOR),
            ({"eks": {"backend": "user-data"}}, Backend.USER_DATA),
            ({"eks": {"amiType": "BOTTLEROCKET_x86_64_NVIDIA"}}, Backend.BOTTLEROCKET),
            (
                {"sharing": {"mig": {"profile": "1g.5gb"}}, "eks": {"amiType": "AL2023_x86_64_NVIDIA"}},
                Backend.USER_DATA,
            ),
        ],
    )
    def test_on_eks_somebody_cuts_and_shares(self, spec: dict[str, Any], backend: Backend) -> None:
        assert pool(EKS, machine="p4d.24xlarge", **spec).backend is backend

    @pytest.mark.parametrize(
        ("machine", "profile"),
        [("g7.2xlarge", "1g.16gb"), ("p6e-gb200.36xlarge", "1g.23gb"), ("g7e.2xlarge", "1g.24gb+gfx")],
    )
    def test_what_bottlerocket_has_no_settings_for_is_cut_by_user_data(self, machine: str, profile: str) -> None:
        assert pool(EKS, machine=machine, sharing={"mig": {"profile": profile}}).backend is Backend.USER_DATA

    def test_elsewhere_nobody_has_to(self) -> None:
        assert pool(GKE, machine="a2-highgpu-1g", sharing={"mig": {"profile": "1g.5gb"}}).backend is None


class TestName:
    @pytest.mark.parametrize(
        ("sharing", "name"),
        [
            (Sharing(Whole()), "gpu"),
            (Sharing(Whole(), TimeSlicing(10)), "ts10"),
            (Sharing(Whole(), Mps(4)), "mps4"),
            (Sharing(Mig(((("1g.5gb", 7),),), Strategy.SINGLE)), "mig1g5gb"),
            (Sharing(Mig(((("1g.5gb", 7),),), Strategy.SINGLE), TimeSlicing(2)), "mig1g5gbts2"),
        ],
    )
    def test_a_pool_is_called_after_what_it_shares(self, sharing: Sharing, name: str) -> None:
        assert default_name(sharing) == name

    LAYOUTS = st.lists(
        st.tuples(st.sampled_from(["1g.5gb", "1g.5gb+me", "2g.10gb", "3g.20gb", "1g.24gb-me"]), st.integers(1, 7)),
        min_size=1,
        max_size=3,
        unique_by=lambda row: row[0],
    ).map(tuple)

    @given(
        st.lists(st.none() | LAYOUTS, min_size=1, max_size=8).map(tuple),
        st.none() | st.builds(TimeSlicing, st.integers(2, 10**6)) | st.builds(Mps, st.integers(2, 10**6)),
    )
    def test_it_is_legal_on_every_cloud(
        self, devices: tuple[Layout | None, ...], share: TimeSlicing | Mps | None
    ) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9]{0,11}", default_name(Sharing(Mig(devices, Strategy.MIXED), share)))


@pytest.mark.parametrize("machine", CUT_MACHINES, ids=lambda one: f"{one.provider}-{one.name}-{one.gpu}")
def test_every_profile_of_every_machine_that_can_be_cut_resolves(machine: Machine) -> None:
    gpu: Gpu = CATALOG.gpu(machine.gpu)
    for profile in gpu.profiles:
        found = pool(
            CLUSTERS[machine.provider], machine=machine.name, gpu=gpu.key, sharing={"mig": {"profile": profile.name}}
        )
        assert isinstance(found.sharing.cut, Mig)
        assert found.sharing.cut.counts == {profile.name: profile.max_per_gpu * machine.gpu_count}
        assert found.slices_per_gpu == profile.max_per_gpu


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = errors(
        {"provider": "gke", "name": "c", "location": "l", "region": "r"},
        machine="a2-highgpu-1g",
        sharing={"mig": {"profile": "1g.10gbb"}, "mps": {"replicas": 1}},
        nodes={"min": 4},
    )
    assert [code for code, _ in wrong] == [
        "replicas-out-of-range",
        "missing-field",
        "conflicting-fields",
        "unknown-profile",
    ]


def test_the_defaults_are_said() -> None:
    found = pool(gpu="l4", tags={"a": "b"}, labels={"c": "d"}, zones=["z"], disk={"sizeGb": 9})
    assert (found.capacity, found.spot, found.name) == (Capacity.ON_DEMAND, False, "gpu")
    assert (found.tags, found.labels, found.zones, found.disk_gb) == ({"a": "b"}, {"c": "d"}, ("z",), 9)
    assert (found.slices_per_gpu, found.profiles()) == (1, {})


@pytest.mark.parametrize(("name", "key"), [("resource_group", "resourceGroup"), ("name", "name"), ("a_b_c", "aBC")])
def test_names_in_code_and_in_files(name: str, key: str) -> None:
    assert camel(name) == key


class TestHints:
    """What is said to be right for a pool is right for its machine and its cloud."""

    @pytest.mark.parametrize("provider", ProviderName)
    @pytest.mark.parametrize("profile", ["1g.5gb", "4g.20gb", "MIG5g", "3g.99gb", "7g.40gb+me"])
    def test_a_profile_that_is_near_can_be_made(self, provider: ProviderName, profile: str) -> None:
        catalog = load()
        for machine in catalog.machines(provider):
            for one in resolution(
                CLUSTERS[provider], machine=machine.name, gpu=machine.gpu, sharing=cut(profile)
            ).errors:
                assert one.hint
                for near in one.nearest if one.code in ("profile-not-on-gpu", "unknown-profile") else ():
                    match = query.find_profile(catalog.gpu(machine.gpu), near)
                    assert match is not None
                    assert query.makes(machine, match.profile)
                    assert one.hint == f"--mig {one.nearest[0]}"

    def test_a_cut_that_says_nothing_is_a_mistake_and_no_more(self) -> None:
        assert errors(EKS, machine="p4d.24xlarge", sharing={"mig": {}}) == [("missing-field", "spec.sharing.mig")]


def cut(profile: str) -> dict[str, Any]:
    return {"mig": {"profile": profile}}
