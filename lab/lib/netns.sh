# shellcheck shell=bash
# The place where a lab host lives. Host 0 is this machine. Every other host has
# a network, a hostname and a view of mounts of its own, kept by one sleeping
# process, so that the network between it and us can really be cut.
#   us 10.78.N.1 (labvN) --- eth0 10.78.N.2 host N

# shellcheck disable=SC2034 # read by the other files
# host_names N: sets what is known of a host from its number.
host_names() {
  N=$1
  H=$LAB_ROOT/h$N
  BRIDGE=labbr$N
  GATEWAY=10.77.$N.1
  PORT=$((22220 + N))
  if [ "$N" = 0 ]; then
    NETNS='' ADDR=127.0.0.1
  else
    NETNS=labh$N ADDR=10.78.$N.2
  fi
}

# on_host COMMAND…: runs it where the host lives.
on_host() {
  local prefix
  enter_host
  "${prefix[@]}" "$@"
}

# enter_host: sets prefix, the caller's array, to the words before a command
# that is to run where the host lives.
enter_host() {
  prefix=()
  [ -z "$NETNS" ] || prefix=(nsenter -t "$(pid_in "$H/ns.pid")" -n -m -u --)
}

# make_netns: the network and the process that keeps the host's namespaces.
make_netns() {
  [ -n "$NETNS" ] || return 0
  if ! mountpoint -q /run/netns; then touch "$LAB_ROOT/netns-mount.made"; fi
  if [ ! -e "/run/netns/$NETNS" ] || [ ! -e "$H/netns.made" ]; then
    [ ! -e "/run/netns/$NETNS" ] || fail "host $N: a network namespace $NETNS is there already and not ours; choose another number"
    touch "$H/netns.made"
    ip netns add "$NETNS"
    ip link add "labv$N" type veth peer name eth0 netns "$NETNS"
    ip addr add "10.78.$N.1/24" dev "labv$N"
    ip link set "labv$N" up
    ip -n "$NETNS" link set lo up
    ip -n "$NETNS" addr add "$ADDR/24" dev eth0
    ip -n "$NETNS" link set eth0 up
    ip -n "$NETNS" route add default via "10.78.$N.1"
  fi
  is_alive "$H/ns.pid" "$H" && return 0
  rm -f "$H/ns.ready"
  mkdir -p "$H/home" "$H/lock" "$H/cgroup"
  # A fresh /sys shows the namespace's own interfaces but no cgroups: they are
  # bound back. /root and /run/lock are the host's own, as on another machine.
  # shellcheck disable=SC2016 # expanded by the inner shell
  start_daemon "$H/ns.pid" "$H/ns.log" nsenter --net="/run/netns/$NETNS" unshare -m -u --propagation slave sh -ec '
    hostname "$1"
    mount --rbind /sys/fs/cgroup "$2/cgroup"
    mount -t sysfs sysfs /sys
    mount --rbind "$2/cgroup" /sys/fs/cgroup
    umount -l "$2/cgroup"
    mount --bind "$2/home" /root
    mount --bind "$2/lock" /run/lock
    : >"$2/ns.ready"
    exec sleep infinity' sh "$NETNS" "$H"
  wait_for 5 test -e "$H/ns.ready" || fail "host $N: its namespaces could not be made: $(cat "$H/ns.log")"
}

# remove_netns_mount: ip makes /run/netns a mount at first use; it goes again when
# that was for us and nobody else uses it.
remove_netns_mount() {
  [ -e "$LAB_ROOT/netns-mount.made" ] && [ -z "$(ls -A /run/netns 2>/dev/null)" ] || return 0
  umount /run/netns 2>/dev/null && rmdir /run/netns 2>/dev/null
  return 0
}

# remove_netns: the network of the host; the rest goes with its last process.
remove_netns() {
  [ -e "$H/netns.made" ] || return 0
  ip netns del "$NETNS" 2>/dev/null
  ip link del "labv$N" 2>/dev/null
  return 0
}
