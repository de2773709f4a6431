package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// refusal is the DialError of a Dial that has to fail.
func refusal(t *testing.T, s Settings, kind Kind, words ...string) *DialError {
	t.Helper()
	h, err := Dial(deadline(t), s, Options{})
	if err == nil {
		h.Close()
		t.Errorf("%s was expected, and it worked", kind)
		return &DialError{}
	}
	t.Log(err)
	var failure *DialError
	if !errors.As(err, &failure) || failure.Kind != kind {
		t.Fatalf("got %v, not of kind %s", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("more than a line: %q", err)
	}
	return failure
}

// listener answers every connection with a function.
func listener(t *testing.T, serve func(net.Conn)) Settings {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go serve(c)
		}
	}()
	return Settings{Alias: "odd", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "root", ConnectTimeout: 10 * time.Second,
		KeepAlive: 5 * time.Second, KeepAliveCount: 3}
}

func TestE01NoSSHServer(t *testing.T) {
	quiet := listener(t, func(net.Conn) {})
	quiet.ConnectTimeout = 200 * time.Millisecond
	refusal(t, quiet, KindNotSSH, "says nothing")
	refusal(t, listener(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n\x1b[31m"); c.Close() }), KindNotSSH, "HTTP/1.1 400")
	closed := listener(t, func(net.Conn) {})
	closed.Port = freePort(t)
	refusal(t, closed, KindRefused, fmt.Sprint(closed.Port))
	name := closed
	name.Host = "no-such-host.invalid"
	refusal(t, name, KindDNS, "no-such-host.invalid")
	dead := closed
	dead.Port, dead.ConnectTimeout = deafPort(t), 300*time.Millisecond
	refusal(t, dead, KindUnreachable, "no answer", "300ms")
}

// deafPort is a port that answers nobody: the queue of its listener is full.
func deafPort(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	check(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	check(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(t, syscall.Listen(fd, 0))
	name, err := syscall.Getsockname(fd)
	check(t, err)
	port := name.(*syscall.SockaddrInet4).Port
	for range 8 {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), 300*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this system queues without end")
	return 0
}

func TestNoRoute(t *testing.T) {
	for _, reason := range []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		err := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", reason)}
		if e := classifyTCP(err, Settings{Host: "10.0.0.5", Port: 22}); e.Kind != KindUnreachable || !strings.Contains(e.Reason, "no route to 10.0.0.5") {
			t.Errorf("%v: %v", reason, e)
		}
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := listener(t, func(net.Conn) { cancel() })
	_, err := Dial(ctx, s, Options{})
	var failure *DialError
	if !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
}

func TestTooManyLoginsAreTriedAgain(t *testing.T) {
	s := startSSHD(t, "MaxStartups 1:100:1")
	first, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	check(t, err)
	defer first.Close()
	_, err = io.ReadFull(first, make([]byte, 4)) // the one place is taken
	check(t, err)
	log := &logLines{}
	h, err := Dial(deadline(t), s.settings(), Options{Log: func(text string) { log.add(text); first.Close() }})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	if !strings.Contains(log.String(), "next try in") {
		t.Errorf("nobody was told: %s", log)
	}
}

// startAgent serves keys on a socket.
func startAgent(t *testing.T, keys ...any) string {
	t.Helper()
	ring := agent.NewKeyring()
	for i, key := range keys {
		check(t, ring.Add(agent.AddedKey{PrivateKey: key, Comment: fmt.Sprintf("key %d", i+1)}))
	}
	dir, err := os.MkdirTemp("", "agent") // socket names are short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	check(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c); c.Close() }()
		}
	}()
	return filepath.Join(dir, "s")
}

func privateKey(t *testing.T, file string) any {
	t.Helper()
	data, err := os.ReadFile(file)
	check(t, err)
	key, err := ssh.ParseRawPrivateKey(data)
	check(t, err)
	return key
}

func TestKeys(t *testing.T) {
	s := startSSHD(t, "MaxAuthTries 3")
	dir := t.TempDir()
	var keys []any
	for i := range 5 {
		file := filepath.Join(dir, fmt.Sprint("other", i))
		newKey(t, file, "")
		keys = append(keys, privateKey(t, file))
	}
	socket := startAgent(t, append(keys, privateKey(t, s.userKey))...)
	base := s.settings()
	base.Identities, base.Explicit = nil, false

	crowded := base
	crowded.Agent = socket
	refusal(t, crowded, KindAuth, "IdentityFile", "agent: key 1")

	named := base
	named.Agent, named.Explicit, named.Identities = socket, true, []string{filepath.Join(dir, "public only")}
	data, err := os.ReadFile(s.userKey + ".pub")
	check(t, err)
	check(t, os.WriteFile(named.Identities[0], data, 0o644))
	dial(t, named)
	named.Identities = []string{filepath.Join(dir, "gone")}
	check(t, os.WriteFile(filepath.Join(dir, "gone.pub"), data, 0o644))
	dial(t, named)

	only := base
	only.Agent, only.Explicit, only.IdentitiesOnly, only.Identities = socket, true, true, []string{filepath.Join(dir, "other0")}
	refusal(t, only, KindAuth, "other0", "ssh-copy-id gpu1")

	loose := s.settings()
	check(t, os.Chmod(s.userKey, 0o644))
	dial(t, loose)
	loose.User = "nobody-here"
	refusal(t, loose, KindAuth, "nobody-here", "id_user", "SHA256:")

	locked := base
	locked.Identities, locked.Explicit = []string{filepath.Join(dir, "locked key")}, true
	newKey(t, locked.Identities[0], "secret passphrase")
	if e := refusal(t, locked, KindEncryptedKey, "ssh-add '"+locked.Identities[0]+"'"); strings.Contains(e.Error(), "secret") {
		t.Error("a secret is in the error")
	}
	none := base
	refusal(t, none, KindAuth, "no key")
	none.Agent = filepath.Join(dir, "no.sock")
	refusal(t, none, KindAgent, "no.sock")
	none.Identities, none.Explicit = []string{filepath.Join(dir, "missing")}, true
	none.Agent = ""
	refusal(t, none, KindAuth, "missing")
	// A dead agent does not matter where a key file does it.
	fine := s.settings()
	fine.Agent = filepath.Join(dir, "no.sock")
	dial(t, fine)
}

func TestJumpHosts(t *testing.T) {
	// Two servers with names of their own in known_hosts, on the one address.
	near, far := startSSHD(t), startSSHD(t)
	a, b := near.settings(), far.settings()
	a.Alias, b.Alias = "bastion", "gpu1"
	b.Jumps = []Settings{a}
	h := dial(t, b)
	out, err := h.Output(deadline(t), Cmd{Argv: []string{"/bin/sh", "-c", "echo $SSH_CONNECTION"}}, 200)
	if err != nil || !strings.Contains(string(out), fmt.Sprint(far.port)) {
		t.Errorf("%q, %v", out, err)
	}
	b.Jumps = []Settings{a, a}
	dial(t, b)

	wrong := a
	wrong.Port = freePort(t)
	b.Jumps = []Settings{a, wrong}
	if e := refusal(t, b, KindRefused, "jump host 2 of 2", "bastion"); e.Hop == "" {
		t.Error("which hop is not told")
	}
	b.Jumps = []Settings{a}
	b.Port = wrong.Port
	if e := refusal(t, b, KindRefused, "bastion", "gpu1"); e.Hop != "" {
		t.Errorf("the last host is no hop: %v", e)
	}
	strange := a
	strange.KnownHosts = nil
	b.Jumps = []Settings{strange}
	refusal(t, b, KindHostKeyUnknown, "the jump host", "bastion")

	deny := startSSHD(t, "AllowTcpForwarding no")
	b = far.settings()
	b.Jumps = []Settings{deny.settings()}
	refusal(t, b, KindForwardingDenied, "AllowTcpForwarding")
}
