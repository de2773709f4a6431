package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// sshd is a real OpenSSH server of a test's own.
type sshd struct {
	dir       string
	port      int
	process   *os.Process
	userKey   string // private key file that may log in
	userName  string
	hostKey   ssh.Signer
	hostFile  string
	knownFile string
	config    string
}

func findSSHD(t testing.TB) string {
	for _, path := range []string{"/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skip("no sshd on this machine: install openssh-server")
	return ""
}

// newKey writes a private key and its public half.
func newKey(t testing.TB, file, passphrase string) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	block, err := ssh.MarshalPrivateKey(private, filepath.Base(file))
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, filepath.Base(file), []byte(passphrase))
	}
	check(t, err)
	check(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	signer, err := ssh.NewSignerFromKey(private)
	check(t, err)
	check(t, os.WriteFile(file+".pub", ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o644))
	return signer
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func line(names string, key ssh.PublicKey) string {
	return names + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + "\n"
}

func freePort(t testing.TB) int {
	t.Helper()
	for range 200 {
		port := 20000 + mathrand.IntN(9000)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// startSSHD starts a server with lines over the usual configuration.
func startSSHD(t testing.TB, extra ...string) *sshd {
	t.Helper()
	program := findSSHD(t)
	me, err := user.Current()
	check(t, err)
	s := &sshd{dir: t.TempDir(), userName: me.Username}
	if me.Uid == "0" {
		check(t, os.MkdirAll("/run/sshd", 0o755))
	}
	s.userKey, s.hostFile, s.knownFile = filepath.Join(s.dir, "id_user"), filepath.Join(s.dir, "host"), filepath.Join(s.dir, "known_hosts")
	userKey := newKey(t, s.userKey, "")
	s.hostKey = newKey(t, s.hostFile, "")
	check(t, os.WriteFile(filepath.Join(s.dir, "authorized"), ssh.MarshalAuthorizedKey(userKey.PublicKey()), 0o600))
	for range 5 { // somebody may take the port between the look and the use
		s.port = freePort(t)
		lines := append(extra, "ListenAddress 127.0.0.1:"+strconv.Itoa(s.port), "HostKey "+s.hostFile, "PidFile none",
			"AuthorizedKeysFile "+filepath.Join(s.dir, "authorized"), "StrictModes no", "UsePAM no", "PermitRootLogin prohibit-password",
			"PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel VERBOSE")
		s.config = filepath.Join(s.dir, "sshd_config")
		check(t, os.WriteFile(s.config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		if s.launch(t, program) {
			check(t, os.WriteFile(s.knownFile, []byte(line(fmt.Sprintf("[127.0.0.1]:%d", s.port), s.hostKey.PublicKey())), 0o600))
			return s
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	t.Fatalf("sshd does not start: %s", log)
	return nil
}

// launch starts the server and waits until it listens.
func (s *sshd) launch(t testing.TB, program string) bool {
	t.Helper()
	cmd := exec.Command(program, "-D", "-f", s.config, "-E", filepath.Join(s.dir, "log"))
	check(t, cmd.Start())
	s.process = cmd.Process
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	t.Cleanup(func() {
		for _, pid := range s.children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		<-gone
	})
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		if bytes.Contains(log, []byte("Server listening on 127.0.0.1 port "+strconv.Itoa(s.port))) {
			return true
		}
		select {
		case <-gone:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// children are the server's processes for connections, and theirs.
func (s *sshd) children() []int { return childrenOf(s.process.Pid) }

func childrenOf(pid int) []int {
	var all []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), childrenOf(child)...)
			}
		}
	}
	return all
}

// signalAll sends a signal to the server's processes for connections.
func (s *sshd) signalAll(t testing.TB, sig syscall.Signal) {
	t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process.Pid))
	found := 0
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(word)
			check(t, err)
			for _, p := range append([]int{pid}, childrenOf(pid)...) {
				if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p)); strings.HasPrefix(string(name), "sshd") && syscall.Kill(p, sig) == nil {
					found++
				}
			}
		}
	}
	if found == 0 {
		t.Fatal("sshd has no connection")
	}
}

func (s *sshd) settings() Settings {
	return Settings{Alias: "gpu1", Host: "127.0.0.1", Port: s.port, User: s.userName, Identities: []string{s.userKey}, Explicit: true,
		KnownHosts: []string{s.knownFile}, ConnectTimeout: 10 * time.Second, KeepAlive: 5 * time.Second, KeepAliveCount: 3}
}

// dial reaches a server, or fails the test.
func dial(t testing.TB, s Settings) *Host {
	t.Helper()
	h, err := Dial(deadline(t), s, Options{})
	check(t, err)
	t.Cleanup(func() { h.Close() })
	return h
}

// deadline is the longest that any call of a test may take.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// lines collects what a Host tells, from any goroutine.
type logLines struct {
	mu  sync.Mutex
	all []string
}

func (l *logLines) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, text)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}
