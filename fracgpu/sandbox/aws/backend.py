"""moto inside this process: EC2, IAM and STS of one invented account, and what the EKS front looks up in them.

moto takes seconds to import, so nothing here imports it before `Backend.load`. It is used as a library, without its
server and without its patches of botocore: it sees no credentials but those of the sandbox and calls nobody.
"""

from __future__ import annotations

import itertools
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fracgpu.sandbox.world import Json, World

if TYPE_CHECKING:
    from werkzeug.wrappers import Request

NODE_ROLE = "fracgpu-sandbox-node"
CLUSTER_SUBNETS = 4
"""A cluster lies in the first four zones of its region; a region that has fewer has all of them."""

_ACCOUNTS = itertools.count(123456789012)
_backends: WeakKeyDictionary[World, Backend] = WeakKeyDictionary()
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class InstanceType:
    """An EC2 instance type. `gpus` counts what the system sees (EC2's LogicalGpuCount), `gpu_mib` is of each."""

    name: str
    vcpus: int
    memory_gib: float
    architectures: tuple[str, ...]
    gpu: str | None = None
    gpus: int = 0
    gpu_mib: int = 0
    whole_gpus: int = 0
    """EC2's Count: 0 where the machine has a part of a GPU."""


@dataclass(frozen=True, slots=True)
class Subnet:
    id: str
    zone: str
    vpc: str


@dataclass(frozen=True, slots=True)
class Template:
    """One version of a launch template. `data` is EC2's LaunchTemplateData."""

    id: str
    name: str
    version: int
    data: Json


class NoTemplate(LookupError):
    """The launch template, or the version of it, is not there; the text is EC2's."""


def of(world: World) -> Backend:
    """The one backend of that world. Two worlds in one process have two accounts and see nothing of each other."""
    with _guard:
        if world not in _backends:
            backend = Backend(next(_ACCOUNTS), world.settings)
            _backends[world] = backend
            world.on_reset.append(backend.reset)
        return _backends[world]


class Backend:
    """EC2, IAM and STS of one account."""

    def __init__(self, account: int, settings: Json) -> None:
        self.account = str(account)
        self.settings = settings
        self.lock = threading.RLock()
        self.answered: dict[tuple[str, str, str], tuple[str, str, int]] = {}
        """(region, action, client token) -> (fingerprint of the request, template id, version) for idempotency."""
        self._services: dict[str, Any] = {}

    def load(self) -> None:
        """Import moto and make the node role. The first caller waits for it, others find it done."""
        with self.lock:
            if self._services:
                return
            # Its list of public images costs megabytes and nobody here launches an instance.
            os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
            from moto.iam.responses import IamResponse
            from moto.sts.responses import TokenResponse

            from fracgpu.sandbox.aws.ec2 import ec2_responses

            self._make_role()
            self._services = {
                "ec2": ec2_responses(self.settings, self.answered),
                "iam": IamResponse,
                "sts": TokenResponse,
            }

    def reset(self) -> None:
        """Forget all that was made in this account."""
        with self.lock:
            self.answered.clear()
            if self._services:
                from moto.ec2.models import ec2_backends
                from moto.iam.models import iam_backends

                ec2_backends.pop(self.account, None)
                iam_backends.pop(self.account, None)
                self._make_role()

    def answer(self, service: str, request: Request) -> tuple[int, dict[str, str], Any] | None:
        """(status, headers, body) of a call to `ec2`, `iam` or `sts`; None for a service that is not here.

        Raises NotImplementedError where moto does not know the action.
        """
        self.load()
        responses = self._services.get(service)
        if responses is None:
            return None
        from moto.core.request import Request as MotoRequest

        headers = {**dict(request.headers), "x-moto-account-id": self.account}
        asked = MotoRequest.from_primitives(request.method, request.url, headers, request.get_data())
        with self.lock:
            status, answered, body = responses.dispatch(asked)
        return status, answered, body

    def node_role(self, partition: str = "aws") -> str:
        """The ARN of the role that the sandbox's own node groups have."""
        return f"arn:{partition}:iam::{self.account}:role/{NODE_ROLE}"

    def instance_type(self, name: str) -> InstanceType | None:
        """That instance type; None where EC2 does not know it."""
        self.load()
        from moto.ec2.models.instance_types import INSTANCE_TYPES

        row = INSTANCE_TYPES.get(name)
        if row is None:
            return None
        cards = row.get("GpuInfo", {}).get("Gpus", [{}])
        nvidia: Json = next((card for card in cards if card.get("Manufacturer") == "NVIDIA"), {})
        return InstanceType(
            name,
            row["VCpuInfo"]["DefaultVCpus"],
            row["MemoryInfo"]["SizeInMiB"] / 1024,
            tuple(row["ProcessorInfo"]["SupportedArchitectures"]),
            nvidia.get("Name"),
            nvidia.get("LogicalGpuCount") or nvidia.get("Count") or 0,
            nvidia.get("MemoryInfo", {}).get("SizeInMiB", 0),
            nvidia.get("Count") or 0,
        )

    def subnets(self, region: str) -> list[Subnet]:
        """All subnets of a region, by zone."""
        rows = [Subnet(row.id, row.availability_zone, row.vpc_id) for row in self.ec2(region).describe_subnets()]
        return sorted(rows, key=lambda row: (row.zone, row.id))

    def cluster_subnets(self, region: str) -> list[Subnet]:
        """The subnets in which the sandbox's clusters lie: one a zone, of the default VPC."""
        first: dict[str, Subnet] = {}
        for subnet in self.subnets(region):
            first.setdefault(subnet.zone, subnet)
        return list(first.values())[:CLUSTER_SUBNETS]

    def template(self, region: str, spec: Json) -> Template:
        """The version of a template that `{id | name, version}` means; without a version, the default one.

        Raises NoTemplate.
        """
        ec2 = self.ec2(region)
        from moto.ec2.exceptions import EC2ClientError

        from fracgpu.sandbox.aws.templates import find, find_version

        try:
            template = find(ec2, spec.get("name"), spec.get("id"))
            version = find_version(template, spec.get("version") or "$Default")
        except EC2ClientError as missing:
            raise NoTemplate(missing.message) from missing
        user_data = version.data.get("UserData")
        data = {**version.data, "UserData": str(user_data)} if user_data else dict(version.data)
        return Template(template.id, template.name, version.number, data)

    def offers(self, region: str, machine: str, zone: str) -> bool:
        """Whether that zone has that instance type, as EC2's offerings and `sandbox set offering` say."""
        from fracgpu.sandbox.aws.offerings import zones_of

        return zone in zones_of(self.settings, region, machine)

    def has(self, region: str) -> bool:
        """Whether AWS has a region of that name."""
        self.load()
        from moto.ec2.models import ec2_backends

        return region in ec2_backends[self.account].regions

    def ec2(self, region: str) -> Any:
        """moto's EC2 backend of that region."""
        self.load()
        from moto.ec2.models import ec2_backends

        return ec2_backends[self.account][region]

    def _make_role(self) -> None:
        from moto.iam.models import iam_backends

        trust = (
            '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole",'
            ' "Principal": {"Service": "ec2.amazonaws.com"}}]}'
        )
        iam_backends[self.account]["aws"].create_role(
            role_name=NODE_ROLE,
            assume_role_policy_document=trust,
            path="/",
            permissions_boundary=None,
            description="Role of the sandbox's nodes",
            tags=[],
            max_session_duration="3600",
        )
