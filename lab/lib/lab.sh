# shellcheck shell=bash
# What up, down and the fault tools share: where the lab is, how it speaks.

LAB_ROOT=${LAB_ROOT:-/tmp/sweep-lab}
LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LAB_STARTED=$EPOCHREALTIME

# say WORDS…: a line with the seconds since the start.
say() {
  local micros=$((${EPOCHREALTIME/./} - ${LAB_STARTED/./}))
  printf '%6d.%02d  %s\n' $((micros / 1000000)) $((micros / 10000 % 100)) "$*"
}

# fail WORDS…: one clear sentence, and the end.
fail() {
  printf 'lab: %s\n' "$*" >&2
  exit 1
}

# need_root
need_root() { [ "$(id -u)" = 0 ] || fail "the lab makes network namespaces and containers and installs packages, so it needs root"; }

# one_at_a_time ARGUMENTS…: runs this script again under a lock, if it is not yet.
one_at_a_time() {
  [ "${LAB_LOCKED:-}" = "$LAB_DIR" ] && { unset LAB_LOCKED; return 0; }
  LAB_LOCKED=$LAB_DIR exec flock --close --timeout 600 "$LAB_DIR" "$0" "$@"
}

# check_root: the lab's directory is removed whole by down, so it must be ours.
check_root() {
  case $LAB_ROOT in
  /*/?*) ;;
  *) fail "LAB_ROOT must be an absolute path at least two directories deep, not \"$LAB_ROOT\"" ;;
  esac
  [[ $LAB_ROOT =~ ^[A-Za-z0-9/_.-]+$ ]] || fail "LAB_ROOT may hold letters, digits and / _ . - only, not \"$LAB_ROOT\""
}

# check_hosts N…
check_hosts() {
  local n
  for n; do
    [[ $n =~ ^(0|[1-9][0-9]?)$ ]] || fail "a host is a number from 0 to 99, not \"$n\""
  done
}

for part in process cgroup packages netns sshd image incusd lxc podman gpus env; do
  # shellcheck source=/dev/null
  . "$LAB_DIR/lib/$part.sh"
done
