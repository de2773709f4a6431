# shellcheck shell=bash
# What is left of a container whose keeper died: its processes and its cgroups.
# A cgroup is found through its processes, never by the container's name: two
# daemons on one machine may use the same names.

# cgroups_of PID: the directories of the groups that it is in, save the roots.
cgroups_of() {
  local line controllers path
  while IFS= read -r line; do
    controllers=$(cut -d: -f2 <<<"$line")
    path=$(cut -d: -f3- <<<"$line")
    [ "$path" != / ] || continue
    case $controllers in
    '') controllers=unified ;;
    name=*) controllers=${controllers#name=} ;;
    esac
    for line in "/sys/fs/cgroup/$controllers$path" "/sys/fs/cgroup$path"; do
      [ ! -d "$line" ] || echo "$line"
    done
  done 2>/dev/null <"/proc/$1/cgroup"
  return 0
}

# end_container KEEPER: kills the keeper's children (the first process of a
# container takes all others with it), the keeper, and removes their cgroups.
# Only groups that a container tool made are touched.
end_container() {
  local child group groups=()
  for child in $(children_of "$1") "$1"; do
    mapfile -t -O ${#groups[@]} groups < <(cgroups_of "$child" | grep -E '/(lxc\.(payload|monitor)\.|libpod)')
    kill -KILL "$child" 2>/dev/null
    wait_for 2 is_zombie_or_gone "$child"
  done
  for group in "${groups[@]}"; do
    wait_for 1 is_empty_cgroup "$group"
    find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
  done
  return 0
}

is_empty_cgroup() { [ ! -s "$1/cgroup.procs" ] || [ -z "$(cat "$1/cgroup.procs" 2>/dev/null)" ]; }
