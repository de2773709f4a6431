package remote

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Platform is what the host is, as far as a program that is pushed there needs
// to know.
type Platform struct {
	OS      string // uname -s: Linux
	Machine string // uname -m: x86_64, aarch64
	User    string
	UID     string
	Shell   string // the login shell
	Home    string
	Sudo    bool   // sudo -n works, or the user is root
	BootID  string // new with every boot; "" where the kernel does not tell

	DataHome, StateHome, CacheHome, RuntimeDir string // XDG directories; RuntimeDir may be ""

	Clock      time.Duration // the host's clock is this much ahead of ours
	ClockError time.Duration // and at most this much wrong: half a round trip, and the clock's own steps
}

const platformScript = `say() { printf '%s=%s\n' "$1" "$2"; }
say os "$(uname -s)"; say machine "$(uname -m)"; say user "$(id -un)"; say uid "$(id -u)"
say shell "$SHELL"; say home "$HOME"
say data "${XDG_DATA_HOME:-$HOME/.local/share}"; say state "${XDG_STATE_HOME:-$HOME/.local/state}"
say cache "${XDG_CACHE_HOME:-$HOME/.cache}"; say runtime "$XDG_RUNTIME_DIR"
say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
if [ "$(id -u)" = 0 ] || sudo -n true >/dev/null 2>&1 </dev/null; then say sudo yes; fi`

// Platform asks the host what it is, in two short sessions.
func (h *Host) Platform(ctx context.Context) (Platform, error) {
	out, err := h.Output(ctx, Cmd{label: "uname", Argv: []string{"/bin/sh", "-c", platformScript}}, 64<<10)
	if err != nil {
		return Platform{}, fmt.Errorf("ask what the host is: %w", err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if strings.IndexFunc(value, func(r rune) bool { return r < ' ' }) < 0 && len(value) < 4096 {
			said[name] = value
		}
	}
	p := Platform{OS: said["os"], Machine: said["machine"], User: said["user"], UID: said["uid"], Shell: said["shell"], Home: said["home"],
		Sudo: said["sudo"] == "yes", BootID: said["boot"], DataHome: said["data"], StateHome: said["state"],
		CacheHome: said["cache"], RuntimeDir: said["runtime"]}
	if p.OS == "" || p.Machine == "" || p.Home == "" {
		return p, fmt.Errorf("%s: ask what the host is: the answer was %s", h.settings.name(), ending(string(out), 200))
	}
	p.Clock, p.ClockError, err = h.clock(ctx)
	if err != nil {
		return p, fmt.Errorf("compare clocks: %w", err)
	}
	return p, nil
}
