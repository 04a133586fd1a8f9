#!/usr/bin/env bash
# The tool at work, in a sandbox of its own: started here, stopped here, nothing left behind. Run by `make demo`.
set -euo pipefail
PATH="$PWD/.venv/bin:$PATH"
state="$(mktemp -d)"
export XDG_RUNTIME_DIR="$state" XDG_STATE_HOME="$state" FRACGPU_SANDBOX=1
trap 'fracgpu -q sandbox stop; rm -rf "$state"' EXIT

say() { printf '\n# %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

aks="--provider aks --machine Standard_NC24ads_A100_v4"
fracgpu -q sandbox start > /dev/null
fracgpu -q sandbox set operation-seconds 0.5

printf '# Every command runs in the sandbox on this machine. In a shell of your own, first:\n'
printf '#   export PATH="$PWD/.venv/bin:$PATH" FRACGPU_SANDBOX=1\n'
say "MIG on GKE: one A100 40GB becomes seven slices."
run fracgpu -q pool create --mig 1g.5gb
say "MIG on AKS: the smallest profile of an A100 80GB."
# shellcheck disable=SC2086
run fracgpu -q pool create $aks --mig 1g.10gb --spot --max 20
say "Time-slicing on EKS: ten containers a GPU, and the config that the device plugin needs."
run fracgpu -q pool create --provider eks --machine g5.xlarge --time-slicing 10 --with-plugin
say "The same call again changes nothing."
run fracgpu -q pool create --mig 1g.5gb

say "What the nodes of each advertise."
run fracgpu -q pool verify mig1g5gb
run fracgpu -q pool verify mig1g10gb --provider aks
run fracgpu -q pool verify ts10 --provider eks
say "What is there."
run fracgpu -q pool list
run fracgpu -q pool list --provider aks
run fracgpu -q pool list --provider eks

say "A pod that lands on a slice."
run fracgpu -q workload pod mig1g5gb

say "Gone again."
run fracgpu -q pool delete mig1g5gb --yes
run fracgpu -q pool delete mig1g10gb --provider aks --yes
run fracgpu -q pool delete ts10 --provider eks --yes
