package remote

import (
	"slices"
	"testing"
)

// TestAddressMayBeAnAlias: hosts.yaml may have an alias of the SSH configuration
// for an address. Its HostName counts, that of the target's own alias does not.
func TestAddressMayBeAnAlias(t *testing.T) {
	local := home(t, map[string]string{"config": "Host rtx\n  HostName wrong\nHost lab1\n  HostName 10.78.1.2\n  Port 22221\n  User root\n"})
	s, _ := resolved(t, Target{Alias: "rtx", Address: "lab1"}, local)
	if s.Host != "10.78.1.2" || s.Port != 22221 || s.User != "root" || s.Alias != "rtx" {
		t.Errorf("got %s@%s:%d as %s", s.User, s.Host, s.Port, s.Alias)
	}
	s, _ = resolved(t, Target{Alias: "rtx", Address: "10.0.0.5:2222", User: "me"}, local)
	if s.Host != "10.0.0.5" || s.Port != 2222 || s.User != "me" {
		t.Errorf("got %s@%s:%d", s.User, s.Host, s.Port)
	}
}

func TestAliases(t *testing.T) {
	local := home(t, map[string]string{"config": "Host lab1 \"lab 2\" gpu* !x\n  HostName h\nMatch all\n"})
	local, err := local.filled()
	check(t, err)
	if got := Aliases(local); !slices.Equal(got, []string{"lab1", "lab 2"}) {
		t.Errorf("got %q", got)
	}
	if got := Aliases(Local{Home: t.TempDir(), User: "me"}); got != nil {
		t.Errorf("of no file: %q", got)
	}
}
