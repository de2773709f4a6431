# shellcheck shell=bash
# A private incusd: own directory, a pool of plain directories, own bridge with
# DHCP, the images, and a stopped container `base` to copy.

INCUSD=/usr/libexec/incus/incusd

# incus_here ARGUMENTS…: the client on this host's daemon, bounded.
incus_here() { INCUS_DIR=$H/incus INCUS_CONF=$H/incus-conf timeout -k 5 60 incus "$@"; }

# start_incusd: the daemon alone, as a restart needs it.
start_incusd() {
  local prefix
  is_alive "$H/incusd.pid" "$H" && return 0
  mkdir -p "$H/incus" "$H/incus-conf"
  enter_host
  INCUS_DIR=$H/incus start_daemon "$H/incusd.pid" "$H/incusd.out" "${prefix[@]}" \
    "$INCUSD" --group "$(incus_group)" --logfile "$H/incusd.log"
  INCUS_DIR=$H/incus timeout 70 "$INCUSD" waitready --timeout=60 ||
    fail "host $N: incusd is not ready: $(cat "$H/incusd.out" "$H/incusd.log" 2>/dev/null | tail -n 3)"
}

# incus_group: who may use the socket beside root; the package makes the group.
incus_group() {
  if getent group incus-admin >/dev/null; then echo incus-admin; else echo root; fi
}

# fill_incusd: pool, bridge, default profile, images, container; what is there stays.
fill_incusd() {
  local variant
  [ -e "$H/incus.filled" ] && return 0
  incus_here storage show default >/dev/null 2>&1 || incus_here storage create -q default dir
  if ! incus_here network show "$BRIDGE" >/dev/null 2>&1; then
    on_host test ! -e "/sys/class/net/$BRIDGE" || fail "host $N: a bridge $BRIDGE is there already and not ours; choose another number"
    touch "$H/bridge.made"
    incus_here network create -q "$BRIDGE" "ipv4.address=$GATEWAY/24" ipv4.nat=false ipv4.firewall=false ipv6.address=none
  fi
  incus_here profile device get default root pool >/dev/null 2>&1 ||
    incus_here profile device add -q default root disk path=/ pool=default
  incus_here profile device get default eth0 network >/dev/null 2>&1 ||
    incus_here profile device add -q default eth0 nic "network=$BRIDGE" name=eth0
  for variant in tiny bare noexec; do
    incus_here image show "$variant" >/dev/null 2>&1 ||
      incus_here image import -q "$LAB_ROOT/images/$variant.tar.gz" --alias "$variant" >/dev/null
  done
  incus_here config show base >/dev/null 2>&1 || incus_here create -q tiny base </dev/null
  touch "$H/incus.filled"
}

# stop_incusd: its containers, then what holds a bridge, then the daemon. What
# does not answer in time is left for end_incus_remains.
stop_incusd() {
  local pid project instance
  is_alive "$H/incusd.pid" "$H" || return 0
  pid=$(pid_in "$H/incusd.pid")
  kill -CONT "$pid" 2>/dev/null
  if timeout 5 env INCUS_DIR="$H/incus" INCUS_CONF="$H/incus-conf" incus query /1.0 >/dev/null 2>&1; then
    for project in $(incus_here project list -f csv -c n 2>/dev/null | sed 's/ .*//'); do
      for instance in $(incus_here list --project "$project" -f csv -c n 2>/dev/null); do
        incus_here delete -f --project "$project" "$instance" </dev/null >/dev/null 2>&1
      done
    done
    incus_here profile device remove -q default eth0 >/dev/null 2>&1
    incus_here network delete -q "$BRIDGE" >/dev/null 2>&1
  fi
  # TERM waits for running operations, up to minutes.
  end_process "$pid" 5
}

# end_incus_remains: what a daemon that died leaves: monitors (the container's
# processes end with its first one), port forwarders, dnsmasq.
end_incus_remains() {
  local pid command pass
  for pass in 1 2; do
    for pid in $({ processes_with environ -x "INCUS_DIR=$H/incus"; processes_with cmdline "$H/"; } | sort -un); do
      is_zombie_or_gone "$pid" && continue
      command=$(command_of "$pid")
      case $command in
      "[lxc monitor]"*) end_container "$pid" ;;
      *"incusd fork"* | *dnsmasq\ * | "$INCUSD "*) kill -KILL "$pid" 2>/dev/null ;;
      esac
    done
    [ "$pass" = 2 ] || sleep 0.1
  done
  [ "$(nft list table inet incus 2>/dev/null | tr -d ' \n')" != 'tableinetincus{}' ] || nft delete table inet incus
  # In a namespace the bridge goes with it.
  [ ! -e "$H/bridge.made" ] || [ -n "$NETNS" ] || ip link del "$BRIDGE" 2>/dev/null
  return 0
}
