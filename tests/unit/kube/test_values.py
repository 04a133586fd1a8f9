"""Helm values: only keys that the charts know, and what each cloud needs on or off."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu import migconfig
from fracgpu.errors import Invalid
from fracgpu.kube.mig_manager import mig_config_map, mig_document
from fracgpu.kube.plugin import gather
from fracgpu.kube.values import Chart, values
from tests.unit.kube.chart_facts import kind_of

DATA = Path(__file__).parent / "data"
TFY_BLOCKS = ("azure-aks-gpu-operator", "aws-eks-gpu-operator")


def paths_of(chart: str) -> dict[str, str]:
    """Path -> type, as `chart_facts.py` took them from the chart; `about` in the file names its version."""
    found: dict[str, str] = json.loads((DATA / f"chart-{chart}.json").read_text(encoding="utf-8"))["paths"]
    return found


def known_paths(chart: Chart) -> dict[str, str]:
    """The paths of a chart with those of the charts inside it, under the names that it gives them."""
    feature_discovery = paths_of("node-feature-discovery")
    operator = paths_of(Chart.GPU_OPERATOR) | under("node-feature-discovery", feature_discovery)
    match chart:
        case Chart.DEVICE_PLUGIN:
            return under("nfd", feature_discovery) | paths_of(chart)
        case Chart.GPU_OPERATOR:
            return operator
        case Chart.TFY_GPU_OPERATOR:
            inner = {path: kind for block in TFY_BLOCKS for path, kind in under(block, operator).items()}
            return inner | paths_of(chart)


def under(name: str, found: dict[str, str]) -> dict[str, str]:
    return {f"{name}.{path}": kind for path, kind in found.items()}


LAYOUT = {"3g.20gb": 1, "1g.5gb": 2}
POOLS: dict[str, dict[str, Any]] = {
    "aks-shared": {"provider": "aks", "gpu": "t4", "timeSlicing": {"replicas": 10}, "capacity": "spot"},
    "aks-own-driver": {"provider": "aks", "gpu": "t4", "aks": {"driver": "None"}},
    "eks-shared": {"provider": "eks", "gpu": "t4", "timeSlicing": {"replicas": 2}},
    "eks-manager": {
        "provider": "eks",
        "gpu": "a100-40gb",
        "mig": {"layout": LAYOUT},
        "eks": {"backend": "gpu-operator"},
    },
    "eks-unlisted": {"provider": "eks", "gpu": "b300", "timeSlicing": {"replicas": 2}},
    "eks-image": {"provider": "eks", "gpu": "a100-40gb", "mig": {"profile": "1g.5gb"}},
}


def made(chart: Chart, *promises: Any) -> dict[str, Any]:
    return values(chart, promises, gather(promises))[0]


def codes(chart: Chart, *promises: Any) -> set[str]:
    return {note.code for note in values(chart, promises, gather(promises))[1]}


def misfits(tree: dict[str, Any], known: dict[str, str], before: str = "") -> Iterator[str]:
    """Paths that the chart does not know, and those where it has a value of another type."""
    for key, value in tree.items():
        path = before + key
        kind = known.get(path)
        if kind is None:
            yield f"{path} is not of the chart"
        elif kind == "map" and isinstance(value, dict) and key not in LEFT_TO_THE_USER:
            yield from misfits(value, known, f"{path}.")
        elif kind != "any" and kind_of(value) != kind and (kind, type(value)) not in ((OPEN, dict), ("map", dict)):
            yield f"{path} is {kind_of(value)}, and {kind} in the chart"


OPEN = "open"
LEFT_TO_THE_USER = ("data", "affinity")
"""Maps that the chart hands on to Kubernetes whole, though it has something in them itself."""
CASES = [
    pytest.param(chart, pool, strategy, id=f"{chart}-{pool}-{strategy}")
    for chart, pool, strategy in itertools.product(Chart, POOLS, ("alone", "shared", "mig"))
]


@pytest.mark.parametrize(("chart", "pool", "beside"), CASES)
def test_values_are_the_charts_own_words(promised: Any, chart: Chart, pool: str, beside: str) -> None:
    """Taken from nvidia-device-plugin 0.20.0, the gpu-operator of 2026-08-21 (after v26.7.0) and tfy-gpu-operator
    0.5.0-rc.2 (which brings gpu-operator v25.10.1), with node-feature-discovery 0.19.0 in each; Helm 4 renders the
    values of every pool here through them."""
    spec = dict(POOLS[pool])
    own = promised(spec.pop("provider"), **spec)
    cloud = own.pool.provider.value
    others = {
        "alone": [],
        "shared": [promised(cloud, "other", gpu="t4", timeSlicing={"replicas": 4})],
        "mig": [promised(cloud, "other", gpu="a100-40gb", mig={"profile": "1g.5gb", "strategy": "mixed"})],
    }
    tree = made(chart, own, *others[beside])
    assert tree or (pool, beside) == ("eks-image", "alone")
    assert list(misfits(tree, known_paths(chart))) == []


def test_a_word_that_no_chart_has_is_found() -> None:
    known = known_paths(Chart.GPU_OPERATOR)
    wrong = {"mig": {"strategy": ["single"], "stategy": "x"}, "daemonsets": {"tolerations": {}}, "driver": {"on": True}}
    assert list(misfits(wrong, known)) == [
        "mig.strategy is list, and text in the chart",
        "mig.stategy is not of the chart",
        "daemonsets.tolerations is open, and list in the chart",
        "driver.on is not of the chart",
    ]


@pytest.mark.parametrize("chart", [Chart.GPU_OPERATOR, Chart.TFY_GPU_OPERATOR])
def test_the_default_config_exists(promised: Any, chart: Chart) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 4})
    tree = made(chart, promise)
    config = tree.get("azure-aks-gpu-operator", tree)["devicePlugin"]["config"]
    assert config["default"] in gather([promise]).documents
    assert config["name"] == "fracgpu-device-plugin"


def test_aks_installs_the_driver_unless_told_not_to(promised: Any) -> None:
    shared = {"gpu": "t4", "timeSlicing": {"replicas": 2}}
    installed = made(Chart.GPU_OPERATOR, promised("aks", **shared))
    assert (installed["driver"], installed["toolkit"]) == ({"enabled": False}, {"enabled": False})
    assert installed["operator"] == {"runtimeClass": "nvidia-container-runtime"}
    own = made(Chart.GPU_OPERATOR, promised("aks", **shared, aks={"driver": "None"}))
    assert (own["driver"], own["toolkit"]) == ({"enabled": True}, {"enabled": True})
    assert "operator" not in own


def test_eks_images_have_driver_and_toolkit(promised: Any) -> None:
    tree = made(Chart.GPU_OPERATOR, promised("eks", gpu="t4", timeSlicing={"replicas": 2}))
    assert (tree["driver"], tree["toolkit"]) == ({"enabled": False}, {"enabled": False})


def test_daemonsets_tolerate_every_taint_of_the_pools(promised: Any) -> None:
    promise = promised("aks", gpu="t4", capacity="spot", taints=["team=vision:NoExecute"], timeSlicing={"replicas": 2})
    plugin = made(Chart.DEVICE_PLUGIN, promise)
    operator = made(Chart.GPU_OPERATOR, promise)
    for tolerations in (
        plugin["tolerations"],
        plugin["nfd"]["worker"]["tolerations"],
        operator["daemonsets"]["tolerations"],
        operator["node-feature-discovery"]["worker"]["tolerations"],
    ):
        for taint in promise.facts.taints:
            assert any(tolerates(one, taint) for one in tolerations), taint


def tolerates(toleration: dict[str, str], taint: Any) -> bool:
    """As the Kubernetes scheduler has it."""
    if toleration.get("effect") not in (None, taint.effect.value) or toleration["key"] != taint.key:
        return False
    return toleration["operator"] == "Exists" or toleration.get("value", "") == taint.value


def test_strategy_of_the_operator_is_that_of_all_pools_or_left_to_the_config(promised: Any) -> None:
    single = promised("aks", "one", gpu="a100-40gb", mig={"profile": "1g.5gb"})
    mixed = promised("aks", "two", gpu="a100-40gb", mig={"profile": "1g.5gb", "strategy": "mixed"})
    strategies = [
        made(Chart.GPU_OPERATOR, *pools)["mig"]["strategy"] for pools in ((single,), (mixed,), (single, mixed))
    ]
    assert strategies == ["single", "mixed", ""]


def test_the_mig_manager_runs_only_where_it_cuts(promised: Any) -> None:
    cloud = promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"})
    assert made(Chart.GPU_OPERATOR, cloud)["migManager"] == {"enabled": False}
    spec = dict(POOLS["eks-manager"])
    manager = promised(spec.pop("provider"), **spec)
    tree = made(Chart.GPU_OPERATOR, manager)["migManager"]
    assert tree["env"] == [{"name": "WITH_REBOOT", "value": "true"}]
    document = yaml.safe_load(tree["config"]["data"]["config.yaml"])
    assert migconfig.config_name(manager.pool.gpu, manager.pool.sharing.cut) in document["mig-configs"]


def test_nvidias_own_configs_need_none_of_ours(promised: Any) -> None:
    promise = promised("eks", gpu="h100", mig={"profile": "1g.10gb"}, eks={"backend": "gpu-operator"})
    assert made(Chart.GPU_OPERATOR, promise)["migManager"] == {"enabled": True}


def test_what_would_undo_a_cut_is_said(promised: Any) -> None:
    manager = promised("eks", "one", gpu="h100", mig={"profile": "1g.10gb"}, eks={"backend": "gpu-operator"})
    script = promised("eks", "two", gpu="a100-40gb", mig={"layout": LAYOUT}, eks={"backend": "user-data"})
    assert "mig-manager-undoes" in codes(Chart.GPU_OPERATOR, manager, script)


def test_the_plugin_is_kept_off_nodes_whose_image_has_one(promised: Any) -> None:
    image = promised("eks", "bottle", gpu="a100-40gb", mig={"profile": "1g.5gb"})
    own = promised("eks", "own", gpu="t4", timeSlicing={"replicas": 2})
    affinity = made(Chart.DEVICE_PLUGIN, image, own)["affinity"]
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    away = {"key": "eks.amazonaws.com/nodegroup", "operator": "NotIn", "values": ["bottle"]}
    assert all(away in term["matchExpressions"] for term in required["nodeSelectorTerms"])
    assert "second-plugin" in codes(Chart.GPU_OPERATOR, image, own)


def test_truefoundrys_chart_installs_a_driver_where_aks_does_not(promised: Any) -> None:
    shared = {"gpu": "t4", "timeSlicing": {"replicas": 2}}
    own = made(Chart.TFY_GPU_OPERATOR, promised("aks", **shared, aks={"driver": "None"}))
    assert own["azure-aks-gpu-operator"]["driver"] == {"enabled": True}
    assert "driver" not in made(Chart.TFY_GPU_OPERATOR, promised("aks", **shared))["azure-aks-gpu-operator"]
    assert "no-driver" in codes(Chart.DEVICE_PLUGIN, promised("aks", **shared, aks={"driver": "None"}))


def test_truefoundrys_chart_looks_for_gpus_on_machines_that_it_does_not_list(promised: Any) -> None:
    for gpu, elsewhere in (("b300", True), ("a10g", False)):
        tree = made(Chart.TFY_GPU_OPERATOR, promised("eks", gpu=gpu, timeSlicing={"replicas": 2}))
        worker = tree["aws-eks-gpu-operator"]["node-feature-discovery"]["worker"]
        assert ("affinity" in worker) is elsewhere
        asked = codes(Chart.TFY_GPU_OPERATOR, promised("eks", gpu=gpu, timeSlicing={"replicas": 2}))
        assert ("feature-discovery-everywhere" in asked) is elsewhere


def test_the_plugin_reads_mig_devices_with_privileges_alone(promised: Any) -> None:
    cut = made(Chart.DEVICE_PLUGIN, promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"}))
    assert cut["securityContext"] == {"privileged": True}
    assert "securityContext" not in made(Chart.DEVICE_PLUGIN, promised("aks", gpu="t4", timeSlicing={"replicas": 2}))


@pytest.mark.parametrize("chart", Chart)
def test_who_makes_the_config_map_is_said(promised: Any, chart: Chart) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 4})
    assert ("plugin-config-needed" in codes(chart, promise)) is (chart is not Chart.TFY_GPU_OPERATOR)


def test_a_key_of_truefoundrys_chart_that_changes_its_meaning_is_said(promised: Any) -> None:
    assert "chart-key-changed" in codes(Chart.TFY_GPU_OPERATOR, promised("eks", gpu="t4", timeSlicing={"replicas": 10}))


@pytest.mark.parametrize("chart", Chart)
def test_gke_needs_no_chart(promised: Any, chart: Chart) -> None:
    promise = promised("gke", gpu="t4", timeSlicing={"replicas": 2})
    assert made(chart, promise) == {}
    assert codes(chart, promise) == {"plugin-not-needed"}


def test_a_chart_is_for_one_cluster(promised: Any) -> None:
    pools = [promised("aks", gpu="t4", timeSlicing={"replicas": 2}), promised("eks", gpu="t4")]
    with pytest.raises(Invalid) as caught:
        made(Chart.GPU_OPERATOR, *pools)
    assert caught.value.code == "usage"


def test_mig_configs_as_a_config_map(promised: Any) -> None:
    spec = dict(POOLS["eks-manager"])
    document = mig_document([promised(spec.pop("provider"), **spec)])
    assert document is not None
    assert yaml.safe_load(mig_config_map(document, "x")["data"]["config.yaml"]) == document
    assert mig_document([promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"})]) is None
