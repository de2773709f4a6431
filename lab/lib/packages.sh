# shellcheck shell=bash
# Packages, through apt with a sources list and package lists of our own, so
# that the machine's apt settings stay as they are. Incus is in backports on
# Debian 12; apt takes it from there unasked, since the release has none.

# What the lab needs, and what it can do without.
LAB_PACKAGES="openssh-server openssh-client busybox-static dnsmasq-base incus-base incus-client lxc nftables iproute2 util-linux procps"
LAB_EXTRAS="podman runc"

# missing_packages NAME…: those that are not installed.
missing_packages() {
  local have
  # It fails when it does not know one of the names.
  # shellcheck disable=SC2016 # the format is dpkg's
  have=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null | sed -n 's/^ii *//p') || true
  printf '%s\n' "$@" | grep -vxF -- "$have"
}

# own_mirror: "URL KEYRING" of the first archive that this machine uses for its
# own release; KEYRING may be empty.
own_mirror() {
  local release=$1 files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources)
  cat "${files[@]}" 2>/dev/null | awk -v release="$release" '
    function emit() { if (url != "" && suites ~ "(^| )" release "( |$)") { print url, key; found = 1; exit } url = key = suites = "" }
    /^deb / {
      line = $0; key = ""
      if (match(line, /signed-by=[^] ]+/)) key = substr(line, RSTART + 10, RLENGTH - 10)
      sub(/\[[^]]*\]/, "", line); split(line, part, " ")
      url = part[2]; suites = part[3]; emit()
    }
    /^URIs:/ { url = $2 }
    /^Suites:/ { sub(/^Suites: */, ""); suites = $0 }
    /^Signed-By: *\// { key = $2 }
    /^$/ { emit() }
    END { if (!found) emit() }'
}

# apt_own ARGUMENTS…: apt-get on our lists.
apt_own() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq \
    -o Dir::Etc::sourcelist="$LAB_ROOT/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$LAB_ROOT/apt/lists" -o Acquire::Languages=none \
    -o DPkg::Lock::Timeout=300 -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 "$@"
}

# update_lists: writes our sources list and fetches the lists, once.
update_lists() {
  local release id components=main suite url key
  [ -e "$LAB_ROOT/apt/updated" ] && return 0
  # shellcheck disable=SC1091
  read -r id release <<<"$(. /etc/os-release && echo "$ID $VERSION_CODENAME")"
  read -r url key <<<"$(own_mirror "$release")"
  [ -n "$url" ] || fail "no apt source for $release is set up on this machine, so the lab's packages cannot be installed"
  [ "$id" = ubuntu ] && components="main universe"
  mkdir -p "$LAB_ROOT/apt/lists/partial"
  for suite in "$release" "$release-updates" "$release-backports"; do
    echo "deb ${key:+[signed-by=$key] }$url $suite $components"
  done >"$LAB_ROOT/apt/sources.list"
  apt_own update >"$LAB_ROOT/apt/log" 2>&1 || return 1
  touch "$LAB_ROOT/apt/updated"
  say "package lists fetched"
}

# install_packages NAME…: installs what is missing; says which. Returns 1 and
# leaves the log when that fails.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || return 1
  update_lists || return 1
  apt_own install -y --no-install-recommends "${missing[@]}" >"$LAB_ROOT/apt/log" 2>&1 || return 1
  say "installed: ${missing[*]}"
}

need_packages() {
  # shellcheck disable=SC2086 # lists of words
  install_packages $LAB_PACKAGES $LAB_EXTRAS || install_packages $LAB_PACKAGES && return 0
  [ ! -s "$LAB_ROOT/apt/log" ] || tail -n 5 "$LAB_ROOT/apt/log" >&2
  # shellcheck disable=SC2086
  fail "the lab needs packages that could not be installed: $(missing_packages $LAB_PACKAGES | tr '\n' ' ')(apt with a network is needed)"
}
