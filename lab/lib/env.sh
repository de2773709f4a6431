# shellcheck shell=bash
# The file that tests read, $LAB_ROOT/env: one export a line, for every host
# that is there. See the table in README.md.

# write_env: from what is on disk, so that up and down of single hosts agree.
write_env() {
  local dir hosts=() first
  for dir in "$LAB_ROOT"/h[0-9]*/; do
    [ -e "$dir/ready" ] && hosts+=("$(basename "$dir" | tr -d h)")
  done
  if [ ${#hosts[@]} = 0 ]; then
    rm -f "$LAB_ROOT/env"
    return 0
  fi
  first=${hosts[0]}
  {
    export_line SWEEP_LAB 1
    export_line LAB_ROOT "$LAB_ROOT"
    export_line LAB_DIR "$LAB_DIR"
    export_line LAB_HOSTS "${hosts[*]}"
    export_line LAB_PCT "$LAB_DIR/bin/pct"
    export_line LAB_IMAGES "$LAB_ROOT/images"
    for N in "${hosts[@]}"; do
      host_names "$N"
      write_host_env "LAB_H$N"
    done
    host_names "$first"
    export_line LAB_LXCPATH "$H/lxc"
    export_line LAB_LXC_INSTANCE "$LXC_INSTANCE"
    export_line PCT_LXCPATH "$H/lxc"
    export_line LAB_PCT_INSTANCE "$PCT_INSTANCE"
    export_line LAB_NVIDIA_SMI "$(if_executable "$H/bin/nvidia-smi")"
    export_line FAKE_SMI "$H/bin/nvidia-smi.json"
    export_line LAB_PODMAN "$(if_executable "$H/bin/podman")"
    export_line LAB_DOCKER "$(if_executable "$H/bin/docker")"
    export_line LAB_PODMAN_IMAGE "$PODMAN_IMAGE"
    export_line LAB_PODMAN_INSTANCE "$PODMAN_INSTANCE"
    export_line LAB_INCUS_COPY base
  } >"$LAB_ROOT/env.new"
  mv "$LAB_ROOT/env.new" "$LAB_ROOT/env"
}

# write_host_env PREFIX
write_host_env() {
  export_line "$1_ALIAS" "lab$N"
  export_line "$1_ADDR" "$ADDR:$PORT"
  export_line "$1_USER" root
  export_line "$1_SSH_CONFIG" "$H/ssh/config"
  export_line "$1_KNOWN_HOSTS" "$H/ssh/known_hosts"
  export_line "$1_KEY" "$H/ssh/user"
  export_line "$1_SSHD_PID" "$H/ssh/sshd.pid"
  export_line "$1_NS" "$NETNS"
  export_line "$1_BRIDGE" "$BRIDGE"
  export_line "$1_INCUS_DIR" "$H/incus"
  export_line "$1_INCUS_CONF" "$H/incus-conf"
  export_line "$1_INCUS_SOCKET" "$H/incus/unix.socket"
  export_line "$1_INCUS_PID" "$H/incusd.pid"
  export_line "$1_LXCPATH" "$H/lxc"
  export_line "$1_LXC_ADDR" "$(lxc_address "$H/lxc" "$LXC_INSTANCE")"
  export_line "$1_PCT_LXCPATH" "$H/lxc"
  export_line "$1_BIN" "$H/bin"
  export_line "$1_FAKE_SMI" "$H/bin/nvidia-smi.json"
}

export_line() { printf 'export %s=%q\n' "$1" "$2"; }

if_executable() { [ ! -x "$1" ] || echo "$1"; }
