"""What GKE refuses about GPUs: machine and accelerator that do not belong together, partition sizes, sharing."""

from __future__ import annotations

from fracgpu.sandbox.gke import tables
from fracgpu.sandbox.gke.errors import invalid, invalid_field
from fracgpu.sandbox.gke.machines import MachineType, machine_type
from fracgpu.sandbox.world import Json

CLIENTS = range(2, 49)
"""https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus"""

_AT = "node_pool.config.accelerators[0]"


def check_accelerators(config: Json) -> None:
    """Refuse accelerators that the machine cannot have or that cannot be cut or shared as asked."""
    asked = config.get("accelerators", [])
    if not asked:
        return
    if "machineType" not in config:
        # https://github.com/hashicorp/terraform-provider-google/issues/8387
        raise invalid("Cannot use default machine type (e2-medium) with GPUs; choose a different machine type.")
    if len(asked) > 1:
        raise invalid("Only one accelerator configuration may be given for a node pool.")
    machine = machine_type(config["machineType"])
    if machine is not None:
        check_accelerator(machine, asked[0])


def check_accelerator(machine: MachineType, asked: Json) -> None:
    """Refuse one AcceleratorConfig on that machine."""
    kind, count = asked.get("acceleratorType", ""), int(asked.get("acceleratorCount", 0))
    known = tables.ACCELERATORS.get(kind)
    if known is None:
        raise invalid_field(f"{_AT}.accelerator_type", kind, "There is no such accelerator type.")
    _check_machine(machine, kind, count, known)
    _check_partition(machine, kind, asked.get("gpuPartitionSize", ""), known)
    check_sharing(asked.get("gpuSharingConfig"))


def _check_machine(machine: MachineType, kind: str, count: int, known: tables.Accelerator) -> None:
    if machine.accelerator is not None:
        if (kind, count) != (machine.accelerator, machine.gpus):
            has = f"{machine.gpus} of {machine.accelerator}"
            raise invalid(f"Machine type {machine.name} has {has}; {count} of {kind} cannot be attached to it.")
        return
    if not machine.takes_gpus or not known.n1_counts:
        # https://github.com/skypilot-org/skypilot/issues/212
        raise invalid(f"[{kind}, {machine.name}] features are not compatible for creating instance.")
    if count not in known.n1_counts:
        counts = ", ".join(map(str, known.n1_counts))
        raise invalid_field(f"{_AT}.accelerator_count", count, f"{kind} comes in {counts} a node.")
    if machine.vcpus > known.n1_counts[count]:
        most = known.n1_counts[count]
        raise invalid(
            f"{count} of {kind} may be attached to machines of at most {most} vCPUs; {machine.name} has more."
        )


def _check_partition(machine: MachineType, kind: str, size: str, known: tables.Accelerator) -> None:
    if not size:
        return
    if size not in known.partitions:
        valid = ", ".join(known.partitions) or "none"
        raise invalid_field(f"{_AT}.gpu_partition_size", size, f"Valid sizes for {kind}: {valid}.")
    if machine.fraction < 1:
        raise invalid_field(f"{_AT}.gpu_partition_size", size, f"{machine.name} has a part of a GPU already.")


def check_sharing(sharing: Json | None) -> None:
    """A strategy and a number of clients go together; 2 to 48 clients for each GPU, or for each slice of it."""
    if not sharing:
        return
    strategy, clients = sharing.get("gpuSharingStrategy"), int(sharing.get("maxSharedClientsPerGpu", 0))
    if strategy not in ("TIME_SHARING", "MPS"):
        raise invalid_field(f"{_AT}.gpu_sharing_config.gpu_sharing_strategy", strategy, "A strategy must be given.")
    if clients not in CLIENTS:
        field = f"{_AT}.gpu_sharing_config.max_shared_clients_per_gpu"
        raise invalid_field(field, clients, f"Must be from {CLIENTS[0]} to {CLIENTS[-1]}.")
