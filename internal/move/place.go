package move

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"sweep/internal/remote"
)

// placeScript prints the environment of a login. sudo keeps the caller's home
// on some systems; files of root belong into root's.
const placeScript = `if [ "$1" = sudo ]; then HOME=$(cd ~root && pwd); export HOME; fi
exec env`

// kept are the variables that a sweep over there gets from the login: where
// programs and daemons are, and where files belong. Everything else stays out:
// a night must not depend on who was logged in.
var kept = regexp.MustCompile(`^(PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|XDG_(DATA|STATE|CACHE|CONFIG)_HOME|XDG_RUNTIME_DIR|` +
	`INCUS_(DIR|CONF|SOCKET|PROJECT)|DOCKER_(HOST|CONTEXT|CONFIG)|CONTAINER_HOST|PCT_LXCPATH|SWEEP_(DATA|LOCK|LXC_PATH|AGENT))$`)

// Refresh asks the host again what it is: it may have been booted anew.
func (p *Place) Refresh(ctx context.Context) error { return p.look(ctx) }

// look asks the host what it is and where sweep's files belong.
func (p *Place) look(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if p.platform, err = p.host.Platform(ctx); err != nil {
		return err
	}
	if p.platform.OS != "Linux" {
		return fmt.Errorf("%s runs %s: sweep can only be moved to Linux", p.Name(), p.platform.OS)
	}
	sudo := ""
	if p.host.Settings().Sudo {
		sudo = "sudo"
	}
	out, err := p.host.Output(ctx, remote.Cmd{Argv: []string{"/bin/sh", "-c", placeScript, "sh", sudo}, Sudo: sudo != ""}, 1<<20)
	if err != nil {
		return fmt.Errorf("ask where files belong: %w", err)
	}
	vars := p.environment(out)
	home := vars["HOME"]
	if !path.IsAbs(home) {
		return fmt.Errorf("%s: the home directory of %s is %q: set one that is an absolute path", p.Name(), p.platform.User, home)
	}
	below := func(variable, usual string) string {
		if dir := vars[variable]; path.IsAbs(dir) { // others do not count, says XDG
			return path.Join(dir, "sweep")
		}
		return path.Join(home, usual, "sweep")
	}
	p.data = cmp.Or(vars["SWEEP_DATA"], below("XDG_DATA_HOME", ".local/share"))
	p.state, p.cache = below("XDG_STATE_HOME", ".local/state"), below("XDG_CACHE_HOME", ".cache")
	if !path.IsAbs(p.data) {
		return fmt.Errorf("%s: SWEEP_DATA is %q there: set an absolute path", p.Name(), p.data)
	}
	return nil
}

// environment reads NAME=VALUE lines and keeps what a sweep gets.
func (p *Place) environment(text []byte) map[string]string {
	vars := map[string]string{}
	p.env = nil
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		if !ok || !kept.MatchString(name) || value == "" || len(value) > 16<<10 || !utf8.ValidString(value) {
			continue
		}
		if _, twice := vars[name]; !twice {
			vars[name] = value
			p.env = append(p.env, name+"="+value)
		}
	}
	return vars
}

// goarch is what uname calls the machine, in Go's words.
func goarch(machine string) (string, error) {
	switch machine {
	case "x86_64", "amd64":
		return "amd64", nil
	case "aarch64", "arm64":
		return "arm64", nil
	}
	return "", fmt.Errorf("there is no sweep for machines of the kind %.20q", machine)
}
