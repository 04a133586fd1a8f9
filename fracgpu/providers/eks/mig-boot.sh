#!/bin/bash
# Cuts the GPUs of this node by MIG before its kubelet starts, at every boot: the mode may outlive a boot, the instances
# never do (https://github.com/NVIDIA/k8s-device-plugin/issues/225).
#
# cloud-init runs it once, at the first boot. It then makes itself a systemd unit that runs ahead of the kubelet. Where
# it cannot cut, the node says so: it joins with the taint fracgpu.dev/mig-failed, or, where it has joined before, it
# does not come back. Log: journalctl -u fracgpu-mig, and /var/log/cloud-init-output.log of the first boot.
set -uo pipefail

# >>> the pool
readonly reboots=0
readonly -a instances=()
create() { return 0; }
# <<< the pool

readonly gpus=${#instances[@]}
readonly root="${FRACGPU_ROOT:-}"
readonly installed="$root/opt/fracgpu/mig-boot.sh"
readonly unit="$root/etc/systemd/system/fracgpu-mig.service"
readonly node_config="$root/etc/eks/nodeadm.d/90-fracgpu-mig.yaml"
readonly kubelet_hold="$root/run/systemd/system/kubelet.service.d/90-fracgpu-mig.conf"
readonly state="$root/var/lib/fracgpu"  # outlives a boot
readonly now="$root/run/fracgpu"        # does not

log() {
  printf 'fracgpu-mig: %s\n' "$*" >&2
}

install_unit() {
  install -D -m 0755 "$0" "$installed" || return 1
  install -D -m 0644 /dev/stdin "$unit" << END || return 1
[Unit]
Description=Cut the GPUs by MIG
After=nvidia-kmod-load.service nvidia-persistenced.service
Before=nodeadm-run.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=${installed#"$root"} boot
TimeoutStartSec=1200
StandardError=journal+console

[Install]
WantedBy=multi-user.target
END
  systemctl daemon-reload && systemctl enable fracgpu-mig.service
}

# The driver's modules are loaded by nvidia-kmod-load.service, in parallel with cloud-init.
wait_for_driver() {
  local try
  for ((try = 0; try < 120; try++)); do
    [ "$(nvidia-smi -L 2> /dev/null | grep -c '^GPU ')" -ge "$gpus" ] && return 0
    sleep 5
  done
  log "the driver shows fewer than $gpus GPUs after ten minutes"
  return 1
}

# Every call of nvidia-smi wakes all GPUs, so each question is asked once for all of them.
modes() {
  nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader 2> /dev/null
}

devices() {
  nvidia-smi -L | awk '/^GPU / { at = $2 + 0; n[at] += 0 } /^ +MIG / { n[at]++ } END { for (i = 0; i in n; i++) print n[i] }'
}

join_by_comma() {
  local IFS=,
  echo "$*"
}

# The GPUs to cut, as nvidia-smi takes a list: all of them, or those whose mode is off.
to_cut() {
  local gpu list=() mode=()
  [ "${1:-}" = off ] && mapfile -t mode < <(modes)
  for ((gpu = 0; gpu < gpus; gpu++)); do
    [ "${instances[gpu]}" -gt 0 ] && [ "${mode[gpu]:-}" != Enabled ] && list+=("$gpu")
  done
  join_by_comma "${list[@]}"
}

all_on() {
  [ -z "$(to_cut off)" ]
}

as_wanted() {
  local gpu count
  mapfile -t count < <(devices)
  for ((gpu = 0; gpu < gpus; gpu++)); do
    [ "${count[gpu]:-0}" -eq "${instances[gpu]}" ] && continue
    log "GPU $gpu has ${count[gpu]:-0} instances of ${instances[gpu]}"
    return 1
  done
}

# Whatever has a GPU open keeps it from being reset.
stop_clients() {
  local client
  for client in nvidia-persistenced nvidia-dcgm dcgm; do
    if systemctl is-active --quiet "$client"; then
      systemctl stop "$client" && stopped+=("$client")
    fi
  done
}

start_clients() {
  local client
  for client in "${stopped[@]}"; do
    systemctl start "$client" || log "$client did not start again"
  done
}

turn_on() {
  local off
  off=$(to_cut off)
  [ -z "$off" ] && return 0
  nvidia-smi -i "$off" -mig 1 || log "not every GPU took the mode at once"
  all_on && return 0
  # Up to Ampere the mode is pending until a reset, and GPUs that NVLink joins are reset together.
  log "MIG mode is pending; resetting the GPUs"
  nvidia-smi --gpu-reset || log "the GPUs cannot be reset"
  all_on && return 0
  reboot_once
  log "MIG mode cannot be turned on"
  return 1
}

# A virtual machine may be unable to reset its GPUs: https://github.com/NVIDIA/gpu-operator/issues/1606
reboot_once() {
  [ "$reboots" -eq 1 ] && [ ! -e "$state/rebooted" ] || return 0
  install -D -m 0644 /dev/null "$state/rebooted" || return 0
  log "MIG mode needs a reboot; the kubelet starts after it"
  systemctl reboot
  exec sleep infinity
}

# Both fail where there is nothing to destroy.
destroy() {
  nvidia-smi mig -i "$(to_cut)" -dci > /dev/null 2>&1
  nvidia-smi mig -i "$(to_cut)" -dgi > /dev/null 2>&1
}

cut_all() {
  [ "$gpus" -eq 0 ] && return 0
  wait_for_driver || return 1
  if [ -e "$now/cut" ] && all_on && as_wanted; then
    log "already cut"
    return 0
  fi
  stop_clients
  turn_on || return 1
  destroy
  create || log "nvidia-smi failed"
  as_wanted
}

# Taints and labels count only when a node joins, so one that has joined before is kept from coming back instead.
say_failed() {
  if [ -e "$state/cut" ]; then
    log "the GPUs are not cut; the kubelet is held back"
    install -D -m 0644 /dev/null "$now/failed"
    install -D -m 0644 /dev/stdin "$kubelet_hold" <<< "[Unit]
ConditionPathExists=!${now#"$root"}/failed"
    systemctl daemon-reload
    return
  fi
  log "the GPUs are not cut; the node joins with a taint that says so"
  install -D -m 0644 /dev/stdin "$node_config" << 'END'
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    flags:
      - --register-with-taints=fracgpu.dev/mig-failed=true:NoSchedule
      - --node-labels=fracgpu.dev/mig=failed
END
}

say_cut() {
  rm -f "$node_config" "$kubelet_hold" "$now/failed"
  install -D -m 0644 /dev/null "$state/cut" && install -D -m 0644 /dev/null "$now/cut"
  log "cut"
}

stopped=()
if [ "${1:-}" != boot ]; then
  install_unit || log "the unit was not installed; the GPUs would not be cut again after a reboot"
fi
cut_all
result=$?
start_clients
if [ "$result" -eq 0 ]; then
  say_cut
else
  say_failed
fi
exit "$result"
