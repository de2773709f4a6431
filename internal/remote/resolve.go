package remote

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	defaultConnectTimeout = 15 * time.Second
	defaultKeepAlive      = 5 * time.Second
	defaultKeepAliveCount = 3
)

// Resolve finds out how a host is reached: hosts.yaml (the target) over
// ~/.ssh/config over /etc/ssh/ssh_config, the first word winning as in ssh.
// The error is a *ConfigError where a line cannot be followed and the host
// would not be reached without it.
func Resolve(target Target, local Local) (Settings, []Warning, error) {
	local, err := local.filled()
	if err != nil {
		return Settings{}, nil, err
	}
	return resolve(target, local, nil)
}

// resolve also knows the jump hosts on whose behalf it is asked, to see a loop.
func resolve(target Target, local Local, behind []string) (Settings, []Warning, error) {
	host, port, err := splitAddress(cmp.Or(target.Address, target.Alias))
	if err != nil {
		return Settings{}, nil, err
	}
	alias := cmp.Or(target.Alias, host)
	if target.Address == "" {
		alias = host // without the port
	}
	found, warnings, err := readConfig(alias, target, local)
	if err != nil {
		return Settings{}, warnings, err
	}
	s := Settings{Alias: alias, Sudo: target.Sudo}
	r := resolver{found: found, local: local, target: target, warnings: warnings}
	if r.named, err = namedBy(host, target, local); err != nil {
		return s, warnings, err
	}
	if err := r.address(&s, host, port); err != nil {
		return s, r.warnings, err
	}
	for _, step := range []func(*Settings) error{r.keys, r.hostKeys, r.timing} {
		if err := step(&s); err != nil {
			return s, r.warnings, err
		}
	}
	if err := r.jumps(&s, behind); err != nil {
		return s, r.warnings, err
	}
	return s, r.warnings, nil
}

// namedBy are the lines for an address of hosts.yaml that may itself be an
// alias of the SSH configuration. Those for the target's own alias do not
// count: hosts.yaml wins over them.
func namedBy(address string, target Target, local Local) ([]setting, error) {
	if target.Address == "" {
		return nil, nil
	}
	found, _, err := readConfig(address, Target{}, local)
	return found, err
}

func readConfig(alias string, target Target, local Local) (found []setting, warnings []Warning, err error) {
	names := []string{alias}
	if target.Address != "" {
		host, _, err := splitAddress(target.Address)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, host)
	}
	for _, file := range []string{local.Config, local.SystemConfig} {
		r := configReader{names: names, base: filepath.Dir(file), home: local.Home}
		err := r.read(file, 0)
		found, warnings = append(found, r.settings...), append(warnings, r.warnings...)
		if err != nil {
			return nil, warnings, err
		}
	}
	for _, s := range found {
		if keyword(s.keyword) == unknownKeyword {
			warnings = append(warnings, Warning{s.file, s.number, clean(s.keyword, 40) + " is not supported and left out"})
		}
	}
	return found, warnings, nil
}

// resolver turns the lines that apply to a host into Settings.
type resolver struct {
	found    []setting
	named    []setting // those of an alias that hosts.yaml has for an address
	local    Local
	target   Target
	tokens   tokens
	warnings []Warning
}

// first is the line that wins for a keyword.
func (r *resolver) first(name string) (setting, bool) {
	for _, s := range r.found {
		if s.keyword == name && s.value != "" {
			return s, true
		}
	}
	return setting{}, false
}

// one is the winning value of a keyword that has one word.
func (r *resolver) one(name string) (string, setting, error) {
	s, ok := r.first(name)
	if !ok {
		return "", s, nil
	}
	list, err := words(s.value)
	if err != nil {
		return "", s, s.err("%s: %v", s.keyword, err)
	}
	if len(list) != 1 {
		return "", s, s.err("%s takes one word, not %q", s.keyword, clean(s.value, 60))
	}
	return list[0], s, nil
}

func (r *resolver) yes(name string) (bool, error) {
	value, s, err := r.one(name)
	switch strings.ToLower(value) {
	case "yes", "true":
		return true, err
	case "no", "false", "":
		return false, err
	}
	return false, s.err("%s must be yes or no, not %q", name, clean(value, 40))
}

// number is the winning value of a keyword that counts; 0 when it is not set.
func (r *resolver) number(name string, max int) (int, error) {
	value, s, err := r.one(name)
	if err != nil || value == "" {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(value, "s"))
	if err != nil || n < 0 || n > max {
		return 0, s.err("%s must be a number from 0 to %d, not %q", name, max, clean(value, 40))
	}
	return n, nil
}

func (r *resolver) timing(s *Settings) error {
	connect, err := r.number("connecttimeout", 3600)
	if err != nil {
		return err
	}
	interval, err := r.number("serveraliveinterval", 3600)
	if err != nil {
		return err
	}
	count, err := r.number("serveralivecountmax", 1000)
	if err != nil {
		return err
	}
	s.ConnectTimeout = cmp.Or(time.Duration(connect)*time.Second, defaultConnectTimeout)
	s.KeepAlive = cmp.Or(time.Duration(interval)*time.Second, defaultKeepAlive)
	s.KeepAliveCount = cmp.Or(count, defaultKeepAliveCount)
	return nil
}
