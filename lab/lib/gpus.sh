# shellcheck shell=bash
# The fake nvidia-smi of each host, and the file that says what it shows.

# build_nvidia_smi: compiles it when there is a Go compiler and it is not up to date.
build_nvidia_smi() {
  local out=$LAB_ROOT/bin/nvidia-smi
  [ -z "$(find "$LAB_DIR/fake-nvidia-smi" -name '*.go' -newer "$out" -print -quit 2>&1)" ] && return 0
  if ! command -v go >/dev/null; then
    say "no Go compiler: no nvidia-smi"
    return 0
  fi
  mkdir -p "$LAB_ROOT/bin"
  (cd "$LAB_DIR/fake-nvidia-smi" && CGO_ENABLED=0 go build -trimpath -o "$out.new" .) || fail "the fake nvidia-smi could not be built"
  mv "$out.new" "$out"
}

# place_nvidia_smi: a copy for the host, beside its file, which a test may change.
place_nvidia_smi() {
  [ -x "$LAB_ROOT/bin/nvidia-smi" ] || return 0
  cmp -s "$LAB_ROOT/bin/nvidia-smi" "$H/bin/nvidia-smi" || cp "$LAB_ROOT/bin/nvidia-smi" "$H/bin/nvidia-smi"
  [ -e "$H/bin/nvidia-smi.json" ] || cp "$LAB_DIR/fake-nvidia-smi/idle.json" "$H/bin/nvidia-smi.json"
}
