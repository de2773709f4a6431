package remote

import (
	"slices"
	"strings"
)

// jumps finds the hosts that are passed on the way. Each is resolved by the
// configuration in its own right.
func (r *resolver) jumps(s *Settings, behind []string) error {
	at, ok := r.proxy()
	if !ok {
		return nil
	}
	if at.keyword == "proxycommand" {
		if r.target.Address == "" {
			return at.err("ProxyCommand is not supported: use ProxyJump, or address and user in hosts.yaml")
		}
		r.warnings = append(r.warnings, Warning{at.file, at.number, "ProxyCommand is left out: hosts.yaml gives an address"})
		return nil
	}
	behind = append(slices.Clone(behind), s.Alias)
	for i, hop := range strings.Split(at.value, ",") {
		hop = strings.TrimPrefix(strings.Trim(strings.TrimSpace(hop), `"`), "ssh://")
		var user string
		if cut := strings.LastIndex(hop, "@"); cut >= 0 {
			user, hop = hop[:cut], hop[cut+1:]
		}
		hop, err := r.tokens.expand(hop)
		if err != nil {
			return at.err("ProxyJump: %v", err)
		}
		name, _, err := splitAddress(hop)
		if err != nil {
			return at.err("ProxyJump: %v", err)
		}
		if slices.Contains(behind, name) || len(behind) > 8 {
			return at.err("ProxyJump goes in a circle: %s", strings.Join(append(behind, name), " -> "))
		}
		jump, warnings, err := resolve(Target{Alias: hop, User: user}, r.local, behind)
		for _, w := range warnings {
			if !slices.Contains(r.warnings, w) {
				r.warnings = append(r.warnings, w)
			}
		}
		if err != nil {
			return err
		}
		// Only the first hop of a list is reached by its own jumps: the others
		// are reached from the hop before them.
		if i == 0 {
			s.Jumps = append(s.Jumps, jump.Jumps...)
		}
		jump.Jumps = nil
		s.Jumps = append(s.Jumps, jump)
	}
	return nil
}

// proxy is the line that decides how the host is reached, if one does. Of
// ProxyJump and ProxyCommand the first wins, as in ssh.
func (r *resolver) proxy() (setting, bool) {
	for _, s := range r.found {
		if (s.keyword == "proxyjump" || s.keyword == "proxycommand") && s.value != "" {
			return s, !strings.EqualFold(s.value, "none")
		}
	}
	return setting{}, false
}
