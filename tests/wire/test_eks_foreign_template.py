"""botocore against the sandbox: groups made with a launch template of the user's own, by boto3 and by fracgpu."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

import boto3
import pytest

from fracgpu.plan import creation
from fracgpu.providers import Observed, Session, eks
from tests.eks_pools import pool
from tests.wire.test_eks_session import CLUSTER, MIG, connected, running, sandbox

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

__all__ = ["running", "sandbox"]  # fixtures of another folder

TEXT = """[settings.kubelet-device-plugins.nvidia]
device-partitioning-strategy = "mig"
[settings.kubelet-device-plugins.nvidia.mig.profile]
"a100.40gb" = "1g.5gb"
"""
SAYS = {"name": "mine", "version": "1", "says": ["sharing"]}


class Account:
    """The user's own calls, a session of ours beside them, and the id of the template that the user made."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.session: Session = connected(sandbox)
        data = {"UserData": base64.b64encode(TEXT.encode()).decode()}
        made = self.client("ec2").create_launch_template(LaunchTemplateName="mine", LaunchTemplateData=data)
        self.template = made["LaunchTemplate"]["LaunchTemplateId"]

    def client(self, service: Literal["ec2", "eks"]) -> Any:

        return boto3.client(
            service,
            region_name="us-east-1",
            endpoint_url=self.sandbox.http,
            aws_access_key_id="AKIAEXAMPLE",
            aws_secret_access_key="nothing",
        )

    def make(self, group: str, **template: str) -> None:
        self.client("eks").create_nodegroup(
            clusterName="sandbox",
            nodegroupName=group,
            subnets=list(self.session.cluster_facts().subnets),
            nodeRole="arn:aws:iam::000000000000:role/node",
            instanceTypes=["p4d.24xlarge"],
            amiType="BOTTLEROCKET_x86_64_NVIDIA",
            launchTemplate=template,
        )

    def fields(self, **template: Any) -> list[str | None]:
        of = pool("gpu", cluster=CLUSTER, **{**MIG, **template})
        return [one.field for one in self.session.preflight(of) if one.code != "not-offered-in-zone"]


@pytest.fixture
def account(sandbox: Sandbox) -> Account:
    sandbox.world.operation_seconds = 0.0
    return Account(sandbox)


def profile(seen: Observed | None) -> str | None:
    assert seen is not None
    mig = eks.read(seen)[0].spec.sharing.mig
    return mig.profile if mig else None


def test_the_cut_of_a_group_that_boto3_made_is_read_back(account: Account) -> None:
    account.make("named", name="mine", version="1")
    account.make("by-id", id=account.template)
    assert profile(account.session.observe("named")) == "1g.5gb"
    assert [profile(seen) for seen in account.session.list() if seen.name in ("named", "by-id")] == ["1g.5gb"] * 2


def test_a_template_that_may_not_be_read_costs_the_cut_alone(account: Account) -> None:
    account.make("named", name="mine", version="1")
    refused = {"status": 403, "code": "UnauthorizedOperation", "message": "not authorized"}
    account.sandbox.world.faults.add("eks", "DescribeLaunchTemplateVersions", **refused)
    assert profile(account.session.observe("named")) is None


def test_a_pool_of_ours_is_made_with_it_and_leaves_it_alone(account: Account) -> None:
    of = pool("gpu", cluster=CLUSTER, **MIG, eks={"launchTemplate": SAYS})
    assert [one for one in account.session.preflight(of) if one.code != "not-offered-in-zone"] == []
    (group,) = eks.desired(of, account.session.cluster_facts())
    account.session.apply(creation(group))
    assert profile(account.session.observe("gpu")) == "1g.5gb"
    assert len(account.client("ec2").describe_launch_templates()["LaunchTemplates"]) == 1


def test_before_anything_is_sent_it_is_held_against_the_pool(account: Account) -> None:
    other = {"sharing": {"mig": {"profile": "2g.10gb"}}}
    assert account.fields(**other, eks={"launchTemplate": SAYS}) == ["spec.sharing"]
    assert account.fields(eks={"launchTemplate": {**SAYS, "version": "9"}}) == ["spec.eks.launchTemplate"]
    assert account.fields(eks={"launchTemplate": {**SAYS, "name": "none"}}) == ["spec.eks.launchTemplate"]
