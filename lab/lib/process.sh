# shellcheck shell=bash
# Processes: which are ours, which live, how they end. A daemon that ended may
# stay a zombie for long where PID 1 reaps late, so `kill -0` proves nothing.

# is_zombie_or_gone PID
is_zombie_or_gone() {
  [ -r "/proc/$1/status" ] || return 0
  grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# is_ours PID DIR: the process carries the mark of the lab host in DIR, in its
# environment or (sshd overwrites that) in its command line. A reused pid doesn't.
is_ours() {
  { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | grep -qxF "LAB_HOST_DIR=$2" && return 0
  command_of "$1" | grep -qF "$2/"
}

# pid_in FILE: the pid in the file, or nothing.
pid_in() {
  local pid=
  [ -r "$1" ] && read -r pid <"$1"
  [[ $pid =~ ^[0-9]+$ ]] && echo "$pid"
}

# is_alive FILE DIR: the process of that pid file lives, and is ours.
is_alive() {
  local pid
  pid=$(pid_in "$1") && ! is_zombie_or_gone "$pid" && is_ours "$pid" "$2"
}

# processes_with FILE [-x] TEXT: pids with a string in /proc/PID/FILE (environ or
# cmdline) that holds TEXT, or with -x is TEXT.
processes_with() {
  local file=$1
  shift
  grep -lzF "$@" /proc/[0-9]*/"$file" 2>/dev/null | cut -d/ -f3
}

# command_of PID: its command line in words.
command_of() { { tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null; }

# children_of PID: its direct children.
children_of() { cat "/proc/$1/task"/*/children 2>/dev/null; }

# wait_for SECONDS COMMAND…: until the command succeeds.
wait_for() {
  local tries=$(($1 * 20))
  shift
  while ! "$@"; do
    [ $((tries--)) -gt 0 ] || return 1
    sleep 0.05
  done
}

# start_daemon PIDFILE LOG COMMAND…: in a session of its own, with none of our
# descriptors (who reads our output waits for them), marked as the host's in $H.
start_daemon() {
  local pidfile=$1 log=$2
  shift 2
  LAB_HOST_DIR=$H setsid "$@" </dev/null >>"$log" 2>&1 &
  echo $! >"$pidfile"
}

# end_process PID SECONDS: TERM, then KILL. Stopped ones are continued first.
end_process() {
  is_zombie_or_gone "$1" && return 0
  kill -TERM "$1" 2>/dev/null
  kill -CONT "$1" 2>/dev/null
  wait_for "$2" is_zombie_or_gone "$1" && return 0
  kill -KILL "$1" 2>/dev/null
  wait_for 5 is_zombie_or_gone "$1"
}

# end_marked DIR: kills every process that carries the mark of the host in DIR,
# save this one and what started it.
end_marked() {
  local dir=$1 pass pid keep=" $$ $BASHPID "
  pid=$PPID
  while [ "${pid:-0}" -gt 1 ]; do
    keep+="$pid "
    pid=$(awk '/^PPid:/ {print $2}' "/proc/$pid/status" 2>/dev/null)
  done
  for pass in 1 2; do
    for pid in $(processes_with environ -x "LAB_HOST_DIR=$dir"); do
      case $keep in *" $pid "*) continue ;; esac
      kill -KILL "$pid" 2>/dev/null
    done
    [ "$pass" = 2 ] || sleep 0.1
  done
}
