package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// home makes a user with a configuration; names are relative to ~/.ssh.
func home(t *testing.T, files map[string]string) Local {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, ".ssh", name)
		check(t, os.MkdirAll(filepath.Dir(file), 0o700))
		check(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return Local{Home: dir, User: "me", SystemConfig: filepath.Join(dir, ".ssh", "system"), GlobalKnownHosts: []string{"/etc/ssh/ssh_known_hosts"},
		Getenv: func(name string) string {
			return map[string]string{"KEYS": dir + "/keys", "SSH_AUTH_SOCK": "/run/agent"}[name]
		}}
}

func resolved(t *testing.T, target Target, local Local) (Settings, []Warning) {
	t.Helper()
	s, warnings, err := Resolve(target, local)
	check(t, err)
	return s, warnings
}

func TestResolve(t *testing.T) {
	local := home(t, map[string]string{
		"config": `# first wins
Host gpu* !gpu9
	User=ubuntu
	IdentityFile "%d/.ssh/key of %r@%h"   # a comment
	IdentityFile ${KEYS}/%n-%u-%p#1
	Include conf.d/*.conf
Host "gpu1" other
	HostName %h.Example.com
	Port 2222
	User late
	IdentityAgent ~/agent.sock
	UserKnownHostsFile ~/.ssh/kh "~/.ssh/known two"
	ConnectTimeout 3
	ServerAliveInterval 60
	ServerAliveCountMax 2
	HostKeyAlias alias1
Match all
	ServerAliveCountMax 9
	StrictHostKeyChecking accept-new`,
		"conf.d/a.conf": "IdentitiesOnly yes\nHost other\nPort 1\n",
		"conf.d/b.conf": "HashKnownHosts yes",
		"system":        "Host *\n  SendEnv LANG LC_*\n  Port 5555\n  HashKnownHosts no\n",
	})
	got, warnings := resolved(t, Target{Alias: "gpu1"}, local)
	want := Settings{Alias: "gpu1", Host: "gpu1.example.com", Port: 2222, User: "ubuntu", Explicit: true, IdentitiesOnly: true,
		Identities: []string{local.Home + "/.ssh/key of ubuntu@gpu1.example.com", local.Home + "/keys/gpu1-me-2222#1"},
		Agent:      local.Home + "/agent.sock", HostKeyAlias: "alias1", HashKnownHosts: true, AcceptNew: true,
		KnownHosts:     []string{local.Home + "/.ssh/kh", local.Home + "/.ssh/known two", "/etc/ssh/ssh_known_hosts"},
		ConnectTimeout: 3 * time.Second, KeepAlive: time.Minute, KeepAliveCount: 2}
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Errorf("%s\n%v", diff, warnings)
	}
	got, _ = resolved(t, Target{Alias: "gpu9"}, local)
	if got.User != "me" || got.Port != 5555 || got.Explicit || len(got.Identities) != 3 || got.Agent != "/run/agent" || got.KeepAlive != 5*time.Second {
		t.Errorf("gpu9: %+v", got)
	}
	// hosts.yaml wins, and what it leaves open is the configuration's.
	got, _ = resolved(t, Target{Alias: "gpu1", Address: "10.0.0.5:23", User: "root", Sudo: true}, local)
	if got.Host != "10.0.0.5" || got.Port != 23 || got.User != "root" || !got.Sudo || got.ConnectTimeout != 3*time.Second {
		t.Errorf("hosts.yaml: %+v", got)
	}
	got, _ = resolved(t, Target{Alias: "x", Address: "2001:db8::1"}, local)
	if got.addr() != "[2001:db8::1]:5555" {
		t.Errorf("IPv6: %+v", got)
	}
}

func TestResolveJumps(t *testing.T) {
	local := home(t, map[string]string{"config": `Host gpu1
 ProxyJump admin@b1:2200,ssh://b2
Host b1
 HostName b1.example.com
 ProxyJump door
Host b2
 User two
 ProxyJump never-used
Host direct
 ProxyJump none
Host circle
 ProxyJump circle2
Host circle2
 ProxyJump circle
Host *
 ProxyCommand nc %h %p
`})
	s, _, err := Resolve(Target{Alias: "gpu1"}, local)
	var wrong *ConfigError
	if !errors.As(err, &wrong) || wrong.Line != 16 { // the jump hosts have the ProxyCommand of Host *
		t.Fatalf("%+v, %v", s, err)
	}
	check(t, os.WriteFile(filepath.Join(local.Home, ".ssh", "system"), nil, 0o600))
	config := filepath.Join(local.Home, ".ssh", "config")
	data, err := os.ReadFile(config)
	check(t, err)
	check(t, os.WriteFile(config, []byte(strings.Replace(string(data), "ProxyCommand nc %h %p", "ProxyJump none", 1)), 0o600))
	got, _ := resolved(t, Target{Alias: "gpu1"}, local)
	var way []string
	for _, hop := range got.Jumps {
		way = append(way, hop.User+"@"+hop.addr())
	}
	if diff := cmp.Diff([]string{"me@door:22", "admin@b1.example.com:2200", "two@b2:22"}, way); diff != "" {
		t.Error(diff)
	}
	if got, _ = resolved(t, Target{Alias: "direct"}, local); got.Jumps != nil {
		t.Errorf("direct: %+v", got.Jumps)
	}
	if _, _, err := Resolve(Target{Alias: "circle"}, local); err == nil || !strings.Contains(err.Error(), "circle -> circle2 -> circle") {
		t.Errorf("circle: %v", err)
	}
}

// What is not followed is told with its place.
func TestResolveTellsWhatItDoesNotFollow(t *testing.T) {
	for _, c := range []struct{ config, says string }{
		{"Host gpu1\n  ProxyCommand nc %h %p", "config:2: ProxyCommand is not supported: use ProxyJump, or address and user in hosts.yaml"},
		{"Port abc", "config:1: port must be a number"},
		{"\nHostName -oProxyCommand=x", "config:2: HostName"},
		{"IdentityFile ~/.ssh/%C", "config:1: IdentityFile: %C is not supported"},
		{"IdentityFile ${NOPE}/x", "config:1: IdentityFile: the variable NOPE is not set"},
		{"User a b", "config:1: user takes one word"},
		{"Host \"gpu1", "config:1: Host needs patterns"},
		{"Include config", "the file include itself"},
	} {
		local := home(t, map[string]string{"config": c.config})
		_, _, err := Resolve(Target{Alias: "gpu1"}, local)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.config, err)
		}
	}
	for _, c := range []struct{ config, says string }{
		{"Match exec \"test -f /x\"\n  User wrong\nHost gpu1\n  User right", "config:1: Match exec"},
		{"User right\nBindAddress 10.0.0.1", "config:2: bindaddress is not supported and left out"},
		{"User right\nStrictHostKeyChecking no", "config:2: StrictHostKeyChecking no is taken as accept-new"},
		{"User right\n= x\nfoo", "config:3: foo is not supported"},
	} {
		s, warnings := resolved(t, Target{Alias: "gpu1"}, home(t, map[string]string{"config": c.config}))
		if len(warnings) == 0 || s.User != "right" || !strings.Contains(warnings[len(warnings)-1].String(), c.says) {
			t.Errorf("%q: %v, user %s", c.config, warnings, s.User)
		}
	}
	local := home(t, map[string]string{"config": "ProxyCommand nc %h %p"})
	if s, warnings := resolved(t, Target{Alias: "gpu1", Address: "10.0.0.5"}, local); len(warnings) != 1 || s.Host != "10.0.0.5" {
		t.Errorf("an address over ProxyCommand: %v", warnings)
	}
	for _, bad := range []string{"", "-x", "a b", "h:0", "h:99999", "h:x", "$(id)", "a/b"} {
		if _, _, err := Resolve(Target{Address: bad}, local); err == nil {
			t.Errorf("address %q is accepted", bad)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("Host a b\n User = x\nMatch host a\n Port 1 # c\n=\n\"\nInclude x\nHost\n")
	f.Fuzz(func(t *testing.T, config string) {
		if strings.Contains(strings.ToLower(config), "include") {
			t.Skip() // would read files of this machine
		}
		_, _, _ = Resolve(Target{Alias: "a"}, home(t, map[string]string{"config": config}))
	})
}
