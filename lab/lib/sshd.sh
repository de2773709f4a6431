# shellcheck shell=bash
# A private sshd with its own host key, one user key and the files that a client
# needs: config, known_hosts. It listens on no address that others can reach.

make_keys() {
  local key
  for key in host user; do
    [ -f "$H/ssh/$key" ] || ssh-keygen -q -t ed25519 -N '' -C "lab-$key$N" -f "$H/ssh/$key"
  done
  cp "$H/ssh/user.pub" "$H/ssh/authorized_keys"
  printf '[%s]:%s %s\n' "$ADDR" "$PORT" "$(cut -d' ' -f1,2 "$H/ssh/host.pub")" >"$H/ssh/known_hosts"
}

write_sshd_config() {
  # Sessions find this host's tools and daemons the way a real host's would be
  # found, and carry the mark by which lab/down knows what they left behind.
  # Only the first SetEnv counts. Host 0 shares this machine's file system, so
  # its sessions get another home.
  local session="LAB_HOST_DIR=$H PATH=$H/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  session+=" INCUS_DIR=$H/incus INCUS_CONF=$H/incus-conf PCT_LXCPATH=$H/lxc SWEEP_LXC_PATH=$H/lxc FAKE_SMI=$H/bin/nvidia-smi.json"
  [ -n "$NETNS" ] || session+=" HOME=$H/home SWEEP_LOCK=$H/lock/sweep.lock"
  cat >"$H/ssh/sshd_config" <<END
Port $PORT
ListenAddress $ADDR
HostKey $H/ssh/host
PidFile $H/ssh/sshd.pid
AuthorizedKeysFile $H/ssh/authorized_keys
SetEnv $session
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AllowTcpForwarding yes
AllowStreamLocalForwarding yes
MaxSessions 100
MaxStartups 100:30:200
ClientAliveInterval 5
ClientAliveCountMax 3
PrintMotd no
UseDNS no
Subsystem sftp internal-sftp
LogLevel VERBOSE
END
}

write_client_config() {
  cat >"$H/ssh/config" <<END
Host lab$N
  HostName $ADDR
  Port $PORT
  User root
  IdentityFile $H/ssh/user
  IdentitiesOnly yes
  UserKnownHostsFile $H/ssh/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
END
}

start_sshd() {
  is_alive "$H/ssh/sshd.pid" "$H" && return 0
  mkdir -p "$H/ssh" "$H/home" "$H/lock" /run/sshd
  rm -f "$H/ssh/sshd.pid"
  make_keys
  write_sshd_config
  write_client_config
  # sshd goes into the background itself and writes its pid.
  LAB_HOST_DIR=$H on_host /usr/sbin/sshd -f "$H/ssh/sshd_config" -E "$H/ssh/sshd.log" </dev/null ||
    fail "host $N: sshd does not start: $(tail -n 3 "$H/ssh/sshd.log")"
  wait_for 5 is_alive "$H/ssh/sshd.pid" "$H" || fail "host $N: sshd does not listen: $(tail -n 1 "$H/ssh/sshd.log")"
  say "host $N: sshd on $ADDR port $PORT"
}

# ssh_connections: the pids of what serves open connections, also those whose
# listener was ended (see cut).
ssh_connections() {
  local pid
  for pid in $(children_of "$(pid_in "$H/ssh/sshd.pid")") $(cat "$H/ssh/orphans" 2>/dev/null); do
    [[ $(command_of "$pid") == sshd:* ]] && echo "$pid"
  done
  return 0
}

# stop_sshd: the listener, then what it served.
stop_sshd() {
  local pid served
  mapfile -t served < <(ssh_connections)
  ! is_alive "$H/ssh/sshd.pid" "$H" || end_process "$(pid_in "$H/ssh/sshd.pid")" 5
  for pid in "${served[@]}"; do end_process "$pid" 2; done
}
