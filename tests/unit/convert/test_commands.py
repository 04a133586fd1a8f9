"""What the flags of az, gcloud and aws mean, and what is said of those that mean nothing here."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.convert import TOOLS, Tool, convert
from fracgpu.convert.flags import Takes
from fracgpu.convert.gcloud_scopes import scopes
from fracgpu.errors import Invalid, Level
from fracgpu.manifest import document_of

AZ = "az aks nodepool add -g R --cluster-name C -n pool1 -s Standard_NC24ads_A100_v4 "
GCLOUD = "gcloud container node-pools create pool1 --cluster c --project p --location us-central1 "
AWS = "aws eks create-nodegroup --cluster-name c --nodegroup-name pool1 --instance-types p4d.24xlarge "
TEMPLATE = "aws ec2 create-launch-template --launch-template-name t --launch-template-data '{}'"
SIZES = "--scaling-config minSize=0,maxSize=4,desiredSize=0 "


def spec(command: str) -> dict[str, Any]:
    body: dict[str, Any] = document_of(convert([command]).pool)["spec"]
    return body


def codes(command: str) -> list[str]:
    return [note.code for note in convert([command]).notes]


def error(command: str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        convert([command])
    return caught.value


COMMANDS = [pytest.param(tool, id=" ".join(tool.command)) for _, tools in TOOLS.values() for tool in tools]


@pytest.mark.parametrize("tool", COMMANDS)
def test_every_flag_of_a_table_becomes_something_or_has_its_reason(tool: Tool) -> None:
    for flag, row in tool.rows.items():
        assert flag.startswith("--")
        assert [bool(row.becomes), row.gap is not None, row.runs].count(True) == 1, flag
    assert set(tool.short.values()) <= tool.rows.keys()


@pytest.mark.parametrize(("tool", "command"), [("az", AZ), ("gcloud", GCLOUD), ("aws", AWS)])
def test_whatever_the_file_form_cannot_say_is_a_warning_that_names_the_flag(tool: str, command: str) -> None:
    for flag, row in TOOLS[tool][1][0].rows.items():
        if row.gap is not None:
            value = {Takes.NOTHING: "", Takes.ONE: "a=b", Takes.MANY: "a=b"}[row.takes]
            notes = [one for one in convert([f"{command} {flag} {value}"]).notes if one.code == "not-in-file-form"]
            assert any(note.message.startswith(flag) for note in notes), flag
            assert notes[0].level is Level.WARNING


@pytest.mark.parametrize(
    ("command", "flag", "nearest"),
    [
        (AZ + "--node-cont 3", "--node-cont", "--node-count"),
        (AZ + "-w", "-w", None),
        (GCLOUD + "--machine-typ x", "--machine-typ", "--machine-type"),
        (AWS + "--capacity SPOT", "--capacity", "--capacity-type"),
    ],
)
def test_a_flag_that_is_not_known_is_an_error_that_names_it(command: str, flag: str, nearest: str | None) -> None:
    caught = error(command)
    assert (caught.code, caught.field) == ("usage", flag)
    assert flag in caught.message
    assert nearest is None or nearest in caught.nearest


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("kubectl get nodes", "usage"),
        ("az aks create -n a -g b", "usage"),
        ("gcloud compute instances create a", "usage"),
        ("aws eks create-cluster --name a", "usage"),
        (AZ + "-n other", "usage"),
        (AZ + "--mode", "usage"),
        (AZ + "--no-wait=true", "usage"),
        (AZ + "stray", "usage"),
        (AZ + "-c three", "invalid-value"),
        (AZ + "--min-count 1", "usage"),
        (AZ + "-e --min-count 1", "usage"),
        (AZ + "--gpu-instance-profile 1g.10gb", "invalid-value"),
        (AZ + "--priority Low", "invalid-value"),
        *((AZ + f"--priority Spot --spot-max-price={price}", "invalid-value") for price in ("cheap", "-5", "0", "nan")),
        (AZ + "--priority Spot --spot-max-price 0.1234567", "invalid-value"),
        (AZ + "--spot-max-price 1", "usage"),
        (AZ + "-e --min-count 0 --max-count 2", "usage"),
        (AZ + "--labels team", "invalid-label"),
        (AZ + "--os-type Windows", "missing-field"),
        ("az aks nodepool add -g R --cluster-name C", "usage"),
        ("gcloud container node-pools create --cluster c", "usage"),
        (GCLOUD + "second", "usage"),
        (GCLOUD + "--max-nodes 4", "usage"),
        (GCLOUD + "--enable-autoscaling --min-nodes 1", "usage"),
        (GCLOUD + "--accelerator count=1", "usage"),
        (GCLOUD + "--accelerator type=nvidia-l4,cuont=1", "usage"),
        (GCLOUD + "--accelerator type=nvidia-l4,gpu-sharing-strategy=mps", "missing-field"),
        (GCLOUD + "--accelerator type=nvidia-l4,gpu-sharing-strategy=x,max-shared-clients-per-gpu=2", "invalid-value"),
        (GCLOUD + "--accelerator type=nvidia-l4,gpu-driver-version=530", "invalid-value"),
        (GCLOUD + "--node-taints a:NoSchedule", "invalid-value"),
        (GCLOUD + "--disk-size big", "invalid-value"),
        (GCLOUD + "--scopes everything", "invalid-value"),
        (GCLOUD + "--reservation-affinity specific", "invalid-value"),
        (AWS + "--scaling-config minSize=0", "invalid-value"),
        (AWS + "--scaling-config minSize=a,maxSize=1,desiredSize=1", "invalid-value"),
        (AWS + "--taints key=a,effect=NoSchedule", "invalid-value"),
        (AWS + "--labels '{\"a\": '", "invalid-value"),
        (AWS + "--labels file://labels.json", "usage"),
        (AWS + "--cli-input-json file://group.json", "usage"),
        ("aws eks create-nodegroup --cluster-name c", "usage"),
        (AZ + "\n" + AZ, "usage"),
        (AZ + "; " + AWS, "usage"),
        (TEMPLATE, "usage"),
        (TEMPLATE + "\n" + AWS + SIZES, "usage"),
        (TEMPLATE + "\n" + AWS + SIZES + "--launch-template name=other", "usage"),
        ("aws ec2 create-launch-template --launch-template-name t\n" + AWS + "--launch-template name=t", "usage"),
        ("", "usage"),
        *(
            (GCLOUD + f"--accelerator type=nvidia-l4,count={count}", "invalid-value")
            for count in ("abc", "", "0", "9" * 99)
        ),
        (GCLOUD + "--disk-size " + "9" * 5000, "invalid-value"),
        (GCLOUD + "--num-nodes " + "9" * 5000, "invalid-value"),
        ("gcloud container node-pools create x --location ''", "invalid-value"),
        (GCLOUD + "--image-type ''", "invalid-value"),
        (AZ + "--node-taints foo", "invalid-value"),
        (AZ + "--node-taints a=b:Never", "invalid-value"),
        (AZ + "--zones ''", "invalid-value"),
        (AZ + "--subscription ''", "invalid-value"),
        (AWS + """--labels '{"a": 1}'""", "invalid-value"),
        (AWS + """--tags '{"a": {}}'""", "invalid-value"),
        (AWS + "--launch-template name=x,foo=y", "unknown-key"),
        (AWS + "--update-config maxUnavailable=x", "invalid-value"),
        (AWS + f"--update-config maxUnavailable={'9' * 5000}", "invalid-value"),
        (AWS + "--region ''", "invalid-value"),
        (AWS + "--cli-input-json " + "[" * 5000, "invalid-value"),
        (AWS + """--cli-input-json '{"labels": """ + '{"a": ' * 3000 + "1" + "}" * 3000 + "}'", "invalid-value"),
        *(
            (AWS + f"--cli-input-json '{text}'", "invalid-value")
            for text in (
                '{"labels": "x"}',
                '{"taints": "x"}',
                '{"taints": [1]}',
                '{"taints": [{"key": "a"}]}',
                '{"scalingConfig": []}',
                '{"scalingConfig": {"minSize": true, "maxSize": 1, "desiredSize": 1}}',
                '{"scalingConfig": {"minSize": 1}}',
                '{"subnets": "a"}',
                '{"subnets": [1]}',
                '{"diskSize": "20"}',
                '{"version": 1.33}',
            )
        ),
        (AWS + """--cli-input-json '{"scalingConfg": {}}'""", "unknown-key"),
    ],
)
def test_what_the_tool_would_not_take_is_refused(command: str, code: str) -> None:
    assert error(command).code == code


class TestAz:
    def test_three_nodes_are_made_where_none_are_said(self) -> None:
        assert spec(AZ)["nodes"] == {"count": 3}
        assert "tool-default" in codes(AZ)
        assert "tool-default" not in codes(AZ + "-c 2")

    def test_a_gpu_instance_is_a_profile_of_its_machines_gpu(self) -> None:
        assert spec(AZ + "--gpu-instance-profile mig2g")["sharing"] == {"mig": {"profile": "2g.20gb"}}

    def test_a_pool_without_the_gpu_taint_is_one_without(self) -> None:
        assert spec(AZ)["gpuTaint"] is False
        assert "no-gpu-taint" in codes(AZ)
        taints = AZ + "--node-taints nvidia.com/gpu=present:NoSchedule,a=b:NoExecute"
        assert (spec(taints).get("gpuTaint"), spec(taints)["taints"]) == (None, ["a=b:NoExecute"])

    def test_short_and_joined_flags(self) -> None:
        found = spec(
            "az aks nodepool add -gR --cluster-name=C -n=pool1 -sStandard_NC24ads_A100_v4 -c1 -m 30 -z 1 2 -k 1.33"
        )
        assert (found["cluster"]["resourceGroup"], found["nodes"], found["zones"]) == ("R", {"count": 1}, ["1", "2"])
        assert found["aks"] == {"maxPods": 30, "version": "1.33"}

    def test_what_only_aks_has(self) -> None:
        flags = "--priority Spot --eviction-policy deallocate --spot-max-price 1.5 --mode User --os-sku AzureLinux "
        flags += "--gpu-driver none --enable-fips-image --max-surge 33% --undrainable-node-behavior Cordon"
        assert spec(AZ + flags)["aks"] == {
            "osSku": "AzureLinux",
            "evictionPolicy": "Deallocate",
            "spotMaxPrice": 1.5,
            "driver": "None",
            "fips": True,
            "upgradeSettings": {"maxSurge": "33%", "undrainableNodeBehavior": "Cordon"},
        }

    def test_an_unlimited_price_is_the_usual_one(self) -> None:
        assert "aks" not in spec(AZ + "--priority Spot --spot-max-price -1")

    def test_a_config_key_that_is_not_ours_keeps_its_name(self) -> None:
        label = AZ + "--labels nvidia.com/device-plugin.config=team-a team=vision"
        assert (spec(label)["sharing"], spec(label)["labels"]) == ({"configKey": "team-a"}, {"team": "vision"})

    def test_the_mark_of_ownership_is_no_tag_of_the_users(self) -> None:
        assert spec(AZ + "--tags fracgpu-managed=true team=ml empty")["tags"] == {"team": "ml", "empty": ""}


class TestGcloud:
    def test_nodes_are_counted_per_zone_and_said_in_all(self) -> None:
        zones = GCLOUD + "--node-locations us-central1-a,us-central1-b --machine-type g2-standard-4 "
        assert spec(zones)["nodes"] == {"count": 6}
        assert spec(zones + "--num-nodes 1 --enable-autoscaling --min-nodes 1 --max-nodes 4")["nodes"] == {
            "min": 2,
            "max": 8,
        }
        assert spec(zones + "--num-nodes 1 --enable-autoscaling --total-min-nodes 1 --total-max-nodes 4")["nodes"] == {
            "count": 2,
            "min": 1,
            "max": 4,
        }
        assert "zones-unknown" not in codes(zones)

    @pytest.mark.parametrize(
        ("flags", "unknown"),
        [
            ("", True),
            ("--num-nodes 2", True),
            ("--num-nodes 0", False),
            ("--num-nodes 0 --enable-autoscaling --total-max-nodes 4", False),
            ("--num-nodes 0 --enable-autoscaling --max-nodes 4", True),
        ],
    )
    def test_a_region_without_zones_is_counted_for_one_and_said(self, flags: str, unknown: bool) -> None:
        assert ("zones-unknown" in codes(GCLOUD + flags)) is unknown

    def test_a_zone_is_one_zone(self) -> None:
        zonal = "gcloud container node-pools create a --cluster c -z us-central1-a -m g2-standard-4 --num-nodes 2"
        assert (spec(zonal)["nodes"], "zones-unknown" in codes(zonal)) == ({"count": 2}, False)
        scaled = zonal + " --enable-autoscaling --max-nodes 4"
        assert (spec(scaled)["nodes"]["max"], "limits-in-totals" in codes(scaled)) == (4, False)
        assert "limits-in-totals" in codes(scaled + " --node-locations us-central1-a,us-central1-b")

    def test_the_gpu_of_a_machine_need_not_be_said(self) -> None:
        assert spec(GCLOUD + "-m a2-highgpu-1g")["gpu"] == "a100-40gb"

    def test_a_gpu_that_is_attached_is_said_with_its_number(self) -> None:
        found = spec(GCLOUD + "-m n1-standard-8 --accelerator type=nvidia-tesla-t4,count=2")
        assert (found["gpu"], found["gke"]) == ("t4-16gb", {"acceleratorCount": 2})

    def test_clients_alone_share_in_time(self) -> None:
        found = spec(GCLOUD + "-m g2-standard-4 --accelerator type=nvidia-l4,max-shared-clients-per-gpu=4")
        assert found["sharing"] == {"timeSlicing": {"replicas": 4}}

    @pytest.mark.parametrize(("size", "gb"), [("200GB", 200), ("100", 100), ("1TB", 1024), ("20480MB", 20)])
    def test_sizes_are_read_as_gcloud_reads_them(self, size: str, gb: int) -> None:
        assert spec(f"{GCLOUD} --disk-size {size}")["disk"] == {"sizeGb": gb}

    def test_a_reservation_is_reserved_capacity(self) -> None:
        found = spec(GCLOUD + "-m g2-standard-4 --reservation-affinity specific --reservation r1")
        assert (found["capacity"], found["gke"]) == ("reserved", {"reservation": "r1"})

    def test_releases_of_the_command_are_the_command(self) -> None:
        assert spec(GCLOUD.replace("gcloud", "gcloud beta") + "-m g2-standard-4")["machine"] == "g2-standard-4"

    def test_what_the_command_takes_from_gclouds_settings_is_said(self) -> None:
        bare = "gcloud container node-pools create a -m g2-standard-4"
        assert codes(bare).count("cluster-incomplete") == 2
        assert spec(bare)["cluster"] == {"provider": "gke"}

    def test_scopes_by_word_and_in_full(self) -> None:
        full = "https://www.googleapis.com/auth/pubsub"
        assert scopes(["storage-rw", full, "pubsub"]) == ["https://www.googleapis.com/auth/devstorage.read_write", full]


class TestAws:
    def test_json_and_shorthand_mean_the_same(self) -> None:
        short = "--labels a=b,c=d --tags t=u --taints key=k,value=v,effect=NO_SCHEDULE key=l,effect=NO_EXECUTE"
        as_json = (
            """--labels '{"a": "b", "c": "d"}' --tags '{"t": "u"}' --taints '[{"key": "k", "value": "v", """
            """"effect": "NO_SCHEDULE"}, {"key": "l", "effect": "NO_EXECUTE"}]'"""
        )
        assert spec(AWS + SIZES + short) == spec(AWS + SIZES + as_json)
        assert spec(AWS + SIZES + short)["taints"] == ["k=v:NoSchedule", "l=:NoExecute"]

    def test_a_whole_call_in_json_is_read_and_flags_come_first(self) -> None:
        call = (
            """{"nodegroupName": "x", "instanceTypes": ["g5.xlarge"], "scalingConfig": """
            """{"minSize": 0, "maxSize": 2, "desiredSize": 0}}"""
        )
        found = convert([f"aws eks create-nodegroup --cluster-name c --nodegroup-name y --cli-input-json '{call}'"])
        assert (found.pool.metadata.name, found.pool.spec.machine) == ("y", "g5.xlarge")

    @pytest.mark.parametrize(
        ("config", "mig"),
        [
            ("all-1g.5gb", {"profile": "1g.5gb", "strategy": "single"}),
            ("all-1g.5gb.me", {"profile": "1g.5gb+me", "strategy": "single"}),
        ],
    )
    def test_a_mig_config_is_cut_by_the_gpu_operator(self, config: str, mig: dict[str, str]) -> None:
        found = spec(f"{AWS} {SIZES} --ami-type AL2023_x86_64_NVIDIA --labels nvidia.com/mig.config={config}")
        assert (found["sharing"]["mig"], found["eks"]["backend"]) == (mig, "gpu-operator")

    def test_several_types_stay_in_their_order(self) -> None:
        found = spec(
            "aws eks create-nodegroup --cluster-name c --nodegroup-name a --instance-types g5.xlarge g6.xlarge"
        )
        assert (found["machine"], found["eks"]["instanceTypes"]) == ("g5.xlarge", ["g5.xlarge", "g6.xlarge"])

    def test_what_only_eks_has(self) -> None:
        flags = "--region us-east-1 --launch-template name=t,version=3 --update-config maxUnavailable=2 "
        flags += (
            "--node-repair-config enabled=true --kubernetes-version 1.33 --release-version 1.33-1 --capacity-type SPOT"
        )
        found = spec(AWS + SIZES + flags)
        assert found["cluster"]["region"] == "us-east-1"
        assert found["capacity"] == "spot"
        assert found["eks"] == {
            "updateConfig": {"maxUnavailable": 2},
            "nodeRepairConfig": {"enabled": True},
            "launchTemplate": {"name": "t", "version": "3"},
            "version": "1.33",
            "releaseVersion": "1.33-1",
        }

    def test_the_reservation_of_a_capacity_block_cannot_be_seen(self) -> None:
        block = AWS + SIZES + "--capacity-type CAPACITY_BLOCK --launch-template id=lt-1"
        assert (spec(block)["capacity"], spec(block)["eks"]["capacityBlock"]) == ("reserved", True)
        assert "reservation-unknown" in codes(block)

    def test_a_template_that_is_made_before_is_one_of_fracgpus_own(self) -> None:
        disk = '{"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 300, "VolumeType": "gp3"}}]}'
        template = TEMPLATE.replace("{}", disk)
        found = spec(f"{template}\n{AWS} {SIZES} --launch-template name=t,version=1")
        assert found["disk"] == {"sizeGb": 300}
        assert "launchTemplate" not in found.get("eks", {})

    def test_flags_may_come_before_the_command(self) -> None:
        found = convert(["aws --region us-east-1 eks create-nodegroup --cluster-name c --nodegroup-name a"])
        assert found.pool.spec.cluster.region == "us-east-1"
