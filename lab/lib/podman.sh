# shellcheck shell=bash
# Podman, the part of Docker that this lab can have without a daemon, with
# storage and settings of its own and one running container `lab`. It is not
# needed: without it the lab says so in a line.

PODMAN_IMAGE=localhost/tiny
PODMAN_INSTANCE=lab

# write_podman: settings and a program that uses them, also under the name docker.
# - runc: crun refuses machines that mount cgroup v2 beside v1.
# - ulimits: podman raises them to a million, which needs CAP_SYS_RESOURCE.
# - locks in files: the ones in shared memory would be common to all hosts.
write_podman() {
  local dir=$H/podman
  mkdir -p "$dir" "$H/bin"
  cat >"$dir/containers.conf" <<END
[containers]
netns = "host"
log_driver = "k8s-file"
seccomp_profile = "unconfined"
apparmor_profile = ""
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
lock_type = "file"
tmp_dir = "$dir/tmp"
static_dir = "$dir/static"
volume_path = "$dir/volumes"
END
  cat >"$dir/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$dir/root"
runroot = "$dir/run"
END
  write_file "$H/bin/podman.new" 755 '#!/bin/sh' \
    "export CONTAINERS_CONF=$dir/containers.conf CONTAINERS_STORAGE_CONF=$dir/storage.conf" \
    "exec $(command -v podman) \"\$@\""
  mv "$H/bin/podman.new" "$H/bin/podman"
  ln -sfn podman "$H/bin/docker"
}

# podman_here ARGUMENTS…: on this host, bounded.
podman_here() { on_host timeout -k 5 60 "$H/bin/podman" "$@" </dev/null; }

# start_podman: images tiny and bare, and the running container.
start_podman() {
  local variant
  if ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
    say "host $N: no podman: its packages could not be installed"
    return 0
  fi
  write_podman
  for variant in tiny bare; do
    podman_here image exists "localhost/$variant" ||
      podman_here import -q -c 'CMD ["/bin/sh", "-c", "trap \"exit 0\" TERM; while :; do sleep 1000000 & wait; done"]' \
        "$LAB_ROOT/images/$variant.rootfs.tar.gz" "localhost/$variant:latest" >>"$H/podman/log" 2>&1 || break
  done
  is_podman_up || podman_here start "$PODMAN_INSTANCE" >>"$H/podman/log" 2>&1 ||
    podman_here run -d --name "$PODMAN_INSTANCE" "$PODMAN_IMAGE" >>"$H/podman/log" 2>&1
  is_podman_up && return 0
  say "host $N: no podman: $(tail -n 1 "$H/podman/log")"
  stop_podman
  rm -f "$H/bin/podman" "$H/bin/docker"
}

is_podman_up() { [ "$(podman_here inspect -f '{{.State.Running}}' "$PODMAN_INSTANCE" 2>/dev/null)" = true ]; }

# stop_podman: its containers, and what watches those that podman cannot end.
stop_podman() {
  local pid
  [ -d "$H/podman" ] || return 0
  [ ! -x "$H/bin/podman" ] || on_host timeout -k 5 30 "$H/bin/podman" rm -f -a -t 1 </dev/null >/dev/null 2>&1
  for pid in $(processes_with cmdline "$H/podman/"); do
    [[ $(command_of "$pid") != *conmon* ]] || end_container "$pid"
  done
  rmdir /sys/fs/cgroup/*/libpod_parent/conmon /sys/fs/cgroup/*/libpod_parent 2>/dev/null
  return 0
}
