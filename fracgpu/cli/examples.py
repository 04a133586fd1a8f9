"""Examples under --help, by command: what a person would type first."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "fracgpu pool create": (
        "fracgpu --sandbox pool create --mig 1g.5gb",
        "fracgpu pool create a100-mig --provider gke --project p --location us-central1 --cluster prod \\",
        "    --machine a2-highgpu-1g --mig 1g.5gb --min 0 --max 4 --spot",
        "fracgpu pool create --mig 3g.20gb=1,2g.10gb=1,1g.5gb=2 --provider eks --cluster prod --region us-east-1",
        "fracgpu pool create -f pool.yaml --dry-run",
    ),
    "fracgpu pool explain": (
        "fracgpu pool explain --provider aks --mig 1g.10gb --machine Standard_NC24ads_A100_v4",
        "fracgpu pool explain -f pool.yaml -o json",
        "fracgpu pool explain a100-mig    (a pool that exists)",
    ),
    "fracgpu pool plan": (
        "fracgpu pool plan -f pools/ --out plan.json",
        "fracgpu pool plan -f pools/ --offline",
        "fracgpu pool plan -f pools/ --detailed-exitcode    (20 where changes are pending)",
    ),
    "fracgpu pool apply": (
        "fracgpu pool apply -f pools/",
        "fracgpu pool apply --plan plan.json --yes",
        "fracgpu pool apply -f pools/ --fleet vision --prune",
    ),
    "fracgpu pool render": (
        "fracgpu pool render --as gcloud --mig 1g.5gb",
        "fracgpu pool render --as terraform -f pool.yaml > pool.tf",
    ),
    "fracgpu pool scale": ("fracgpu pool scale a100-mig --nodes 2", "fracgpu pool scale a100-mig --min 0 --max 8"),
    "fracgpu pool update": (
        "fracgpu pool update a100-mig --label team=vision --max 6",
        "fracgpu pool update -f pool.yaml --replace",
    ),
    "fracgpu pool delete": (
        "fracgpu pool delete a100-mig t4-shared --provider gke --cluster prod --location us-central1",
    ),
    "fracgpu pool verify": (
        "fracgpu pool verify a100-mig",
        "fracgpu pool verify a100-mig --prove    (a pool without nodes: starts one, and ends it)",
    ),
    "fracgpu pool wait": ("fracgpu pool wait a100-mig --for ready --timeout 30m",),
    "fracgpu convert": (
        "fracgpu convert -- az aks nodepool add -g rg --cluster-name prod -n mig -s Standard_NC24ads_A100_v4 \\",
        "    --gpu-instance-profile MIG1g --node-count 1",
        "fracgpu convert - < make-pool.sh > pool.yaml",
    ),
    "fracgpu catalog layouts": (
        "fracgpu catalog layouts --gpu a100-40gb",
        "fracgpu catalog layouts --gpu h100-80gb-sxm -o svg > h100.svg",
    ),
    "fracgpu plugin values": ("fracgpu plugin values --chart nvidia-device-plugin -f pools/ > values.yaml",),
    "fracgpu plugin apply": ("fracgpu plugin apply --dry-run", "fracgpu plugin apply -f pools/"),
    "fracgpu workload pod": ("fracgpu workload pod --provider gke --mig 1g.5gb --gpus 2 | kubectl apply -f -",),
}
