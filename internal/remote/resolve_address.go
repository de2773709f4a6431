package remote

import (
	"cmp"
	"net"
	"strconv"
	"strings"
)

// splitAddress takes name, name:port, an IPv6 address, [address] and
// [address]:port; port is 0 when none is given.
func splitAddress(text string) (host string, port int, err error) {
	wrong := func() (string, int, error) {
		return "", 0, &ConfigError{Text: "address " + strconv.Quote(clean(text, 80)) + " is not NAME, NAME:PORT or [IPV6]:PORT"}
	}
	if strings.Count(text, ":") == 1 || strings.HasPrefix(text, "[") && strings.Contains(text, "]:") {
		h, p, err := net.SplitHostPort(text)
		if err != nil {
			return wrong()
		}
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return wrong()
		}
		host = h
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	// A name that starts with a dash or has blanks is a mistake, and would be
	// an option in the commands that errors tell people to run.
	if host == "" || strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\r\n\"'`$\\;&|<>()@/") {
		return wrong()
	}
	return host, port, nil
}

// address finds name, port and user, and makes the tokens of them.
func (r *resolver) address(s *Settings, host string, port int) error {
	alias, names := s.Alias, r
	if r.target.Address != "" {
		alias, names = host, &resolver{found: r.named}
	}
	name, at, err := names.one("hostname")
	if err != nil {
		return err
	}
	if name != "" {
		if host, err = (tokens{alias: alias, host: alias}).expand(name); err != nil {
			return at.err("HostName: %v", err)
		}
		if host, _, err = splitAddress(bracket(host)); err != nil {
			return at.err("HostName %q is not a name or an address", clean(name, 80))
		}
	}
	configured, err := r.number("port", 65535)
	if err != nil {
		return err
	}
	user, _, err := r.one("user")
	if err != nil {
		return err
	}
	keyAlias, _, err := r.one("hostkeyalias")
	if err != nil {
		return err
	}
	s.Host = strings.ToLower(host)
	s.Port = cmp.Or(port, configured, 22)
	s.User = cmp.Or(r.target.User, user, r.local.User)
	s.HostKeyAlias = keyAlias
	r.tokens = tokens{alias: s.Alias, host: s.Host, port: strconv.Itoa(s.Port), remoteUser: s.User, localUser: r.local.User,
		home: r.local.Home, keyAlias: cmp.Or(keyAlias, s.Alias)}
	return nil
}

// bracket puts an IPv6 address into brackets, so that its last group is not
// taken for a port.
func bracket(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// addr is what is dialled.
func (s Settings) addr() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// name tells a host in messages.
func (s Settings) name() string {
	if s.Alias == s.Host && s.Port == 22 {
		return s.Host
	}
	if s.Alias == s.Host || s.Alias == "" {
		return s.addr()
	}
	return s.Alias + " (" + s.addr() + ")"
}
