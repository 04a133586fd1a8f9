"""What commands there are, without loading one, and what `fracgpu --help` says. Nothing heavy is imported here."""

from __future__ import annotations

HERE = "fracgpu.cli"
GROUPS = {
    "pool": (f"{HERE}.pool", "app", "Make, change, look at and remove node pools"),
    "catalog": (f"{HERE}.catalog", "app", "GPUs, MIG profiles, machines and layouts"),
    "plugin": (f"{HERE}.plugin", "app", "Config and chart values of the NVIDIA device plugin"),
    "workload": (f"{HERE}.workload", "app", "Pods that land on a pool's slices"),
    "convert": (f"{HERE}.convert", "convert", "An az, gcloud or aws command -> NodePool YAML"),
    "doctor": (f"{HERE}.doctor", "doctor", "What keeps fracgpu from working here, and the fix"),
    "schema": (f"{HERE}.schema", "schema", "The JSON Schema of the file form"),
    "config": (f"{HERE}.config", "app", "Which cluster is meant, and who said so"),
    "sandbox": (f"{HERE}.sandbox", "app", "Three clouds and a Kubernetes API on this machine, for trying"),
}
GLOBAL_OPTIONS = {
    "--sandbox": "Use the sandbox on this machine, not a cloud (FRACGPU_SANDBOX=1)",
    "--config FILE": "Your configuration file (FRACGPU_CONFIG)",
    "-v, --verbose": "Say more, on stderr",
    "-q, --quiet": "Say nothing but warnings and errors on stderr",
    "--no-color": "No colour (NO_COLOR=1)",
    "--version": "Print the version",
    "--install-completion": "Teach your shell to complete fracgpu's words (--show-completion prints how)",
    "-h, --help": "Print help, of any command",
}
EXAMPLES = {
    "fracgpu --sandbox pool create --mig 1g.5gb": "make a pool on this machine; no account needed",
    "fracgpu pool explain --provider aks --time-slicing 10 --gpu a100": "what its nodes would advertise",
    "fracgpu catalog profiles --gpu h100": "what an H100 can be cut into",
}


def root_help() -> str:
    """What `fracgpu --help` prints."""
    sections = {
        "Start with": EXAMPLES,
        "Commands": {name: line for name, (_, _, line) in GROUPS.items()},
        "Options, before or after the command": GLOBAL_OPTIONS,
    }
    intro = "One GPU, many workloads: fractional GPU node pools on AKS, GKE and EKS."
    parts = ["Usage: fracgpu COMMAND [OPTIONS]", f"  {intro}"]
    parts += [f"{title}:\n{_rows(rows)}" for title, rows in sections.items()]
    return "\n\n".join(parts)


def _rows(rows: dict[str, str]) -> str:
    """Two columns; where the first is long, one under the other."""
    width = max(len(name) for name in rows)
    if width > 24:
        return "\n".join(f"  {name}\n      {text}" for name, text in rows.items())
    return "\n".join(f"  {name.ljust(width)}  {text}" for name, text in rows.items())
