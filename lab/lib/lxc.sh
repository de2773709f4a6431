# shellcheck shell=bash
# Classic LXC in a directory of its own with two running containers: `lab`, and
# 129 for the pct stand-in, as on Proxmox. Both are on the host's
# bridge and get their address by DHCP.

LXC_INSTANCE=lab
PCT_INSTANCE=129

# write_lxc_config PATH NAME: a privileged container, as an LXC host would have.
write_lxc_config() {
  cat >"$1/$2/config" <<END
lxc.rootfs.path = dir:$1/$2/rootfs
lxc.uts.name = $2
lxc.mount.auto = cgroup:mixed proc:mixed sys:mixed
lxc.autodev = 1
lxc.pty.max = 16
lxc.environment = LAB_HOST_DIR=$H
lxc.net.0.type = veth
lxc.net.0.link = $BRIDGE
lxc.net.0.flags = up
lxc.net.0.name = eth0
END
}

# is_lxc_up PATH NAME
is_lxc_up() { on_host timeout 10 lxc-info -P "$1" -n "$2" -sH 2>/dev/null | grep -qx RUNNING; }

start_lxc() {
  local path=$H/lxc name=$LXC_INSTANCE
  if [ ! -e "$path/$name/config" ]; then
    mkdir -p "$path/$name"
    tar -C "$path/$name" -xzf "$LAB_ROOT/images/tiny.tar.gz" rootfs
    write_lxc_config "$path" "$name"
  fi
  is_lxc_up "$path" "$name" && return 0
  LAB_HOST_DIR=$H on_host timeout 20 lxc-start -P "$path" -n "$name" -o "$path/$name.log" </dev/null ||
    fail "host $N: the LXC container $name does not start; see $path/$name.log"
}

# has_lxc_address: DHCP is done.
has_lxc_address() { [ -n "$(lxc_address "$H/lxc" "$LXC_INSTANCE")" ]; }

# pct_here ARGUMENTS…: the stand-in on this host.
pct_here() { LAB_HOST_DIR=$H PCT_LXCPATH=$H/lxc SWEEP_LXC_PATH=$H/lxc on_host timeout 30 "$LAB_DIR/bin/pct" "$@" </dev/null; }

start_pct() {
  mkdir -p "$H/lxc"
  [ -e "$H/lxc/$PCT_INSTANCE/config" ] ||
    pct_here create "$PCT_INSTANCE" "$LAB_ROOT/images/tiny.tar.gz" --hostname "ct$PCT_INSTANCE" --net0 "name=eth0,bridge=$BRIDGE,ip=dhcp"
  is_lxc_up "$H/lxc" "$PCT_INSTANCE" || pct_here start "$PCT_INSTANCE"
}

# lxc_address PATH NAME: the container's address; empty until DHCP is done.
lxc_address() { on_host timeout 10 lxc-info -P "$1" -n "$2" -iH 2>/dev/null | head -n 1; }

# stop_lxc: every container of both directories. One that lxc-stop cannot end
# loses its first process, and with it all the others.
stop_lxc() {
  local path config name pid
  for path in "$H/lxc"; do
    for config in "$path"/*/config; do
      [ -e "$config" ] || continue
      name=$(basename "$(dirname "$config")")
      on_host timeout 10 lxc-stop -P "$path" -n "$name" -k >/dev/null 2>&1
      for pid in $(lxc_monitors "$path" "$name"); do end_container "$pid"; done
    done
  done
  return 0
}

# lxc_monitors PATH NAME: the pids of the processes that watch the container.
lxc_monitors() {
  local pid
  for pid in $(processes_with cmdline "$1 $2"); do
    [[ $(command_of "$pid") == "[lxc monitor] $1 $2 "* ]] && echo "$pid"
  done
  return 0
}

# place_pct: the stand-in as this host's `pct`, which knows where its containers
# are without being told by its caller's environment.
place_pct() {
  rm -f "$H/bin/pct"
  write_file "$H/bin/pct" 755 '#!/bin/sh' "export PCT_LXCPATH=$H/lxc" "exec $LAB_DIR/bin/pct \"\$@\""
}
