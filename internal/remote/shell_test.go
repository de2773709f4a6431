package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// oddServer is an SSH server whose login shell is a function: an account with
// another shell cannot be made for a test.
func oddServer(t *testing.T, shell func(command string, ch ssh.Channel) (code uint32)) Settings {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	host, err := ssh.NewSignerFromKey(private)
	check(t, err)
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(host)
	s := listener(t, func(c net.Conn) {
		_, channels, requests, err := ssh.NewServerConn(c, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for channel := range channels {
			ch, asked, err := channel.Accept()
			if err != nil {
				return
			}
			go func() {
				for r := range asked {
					_ = r.Reply(r.Type == "exec", nil)
					if r.Type != "exec" {
						continue
					}
					var exec struct{ Command string }
					_ = ssh.Unmarshal(r.Payload, &exec)
					go func() {
						code := shell(exec.Command, ch)
						_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
						ch.Close()
					}()
				}
			}()
		}
	})
	dir := t.TempDir()
	newKey(t, filepath.Join(dir, "key"), "")
	s.Identities, s.Explicit = []string{filepath.Join(dir, "key")}, true
	s.KnownHosts = []string{filepath.Join(dir, "known")}
	s.AcceptNew = true
	return s
}

// shellRun is what sshd does with a command, after the start-up file spoke.
func shellRun(command string, ch ssh.Channel) uint32 {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return 1
	}
	go func() { _, _ = io.Copy(in, ch); in.Close() }()
	_ = cmd.Wait()
	return uint32(cmd.ProcessState.ExitCode())
}

func TestBannerOfTheLoginShellIsDropped(t *testing.T) {
	banner := "\n*** Welcome ***\nsweep-0123\n" + strings.Repeat("news ", 20_000) // no line break at the end
	h := dial(t, oddServer(t, func(command string, ch ssh.Channel) uint32 {
		_, _ = io.WriteString(ch, banner)
		_, _ = io.WriteString(ch.Stderr(), "stty: not a terminal")
		return shellRun(command, ch)
	}))
	var stdout, stderr bytes.Buffer
	code, err := h.Run(deadline(t), Cmd{Argv: []string{"/bin/sh", "-c", "cat; echo mine >&2; exit 3"}, Stdin: strings.NewReader("out\x00put"), Stdout: &stdout, Stderr: &stderr})
	if code != 3 || err != nil || stdout.String() != "out\x00put" || stderr.String() != "mine\n" {
		t.Errorf("code %d, %v, %.100q, %q", code, err, stdout.String(), stderr.String())
	}
	// Everything that is built on Run has it too.
	file := filepath.Join(t.TempDir(), "file")
	_, err = h.Push(deadline(t), strings.NewReader("pushed"), 6, sumOf([]byte("pushed")), file, 0o600)
	check(t, err)
	var got bytes.Buffer
	if _, err := h.Pull(deadline(t), file, 0, &got); err != nil || got.String() != "pushed" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

func TestLoginShellThatRunsNothing(t *testing.T) {
	h := dial(t, oddServer(t, func(_ string, ch ssh.Channel) uint32 {
		_, _ = io.WriteString(ch, "This account is currently not available.\n")
		return 1
	}))
	_, err := h.Run(deadline(t), Cmd{Argv: []string{"id"}})
	var start *StartError
	if !errors.As(err, &start) || start.Sudo || start.Code != 1 || !strings.Contains(err.Error(), "not available") {
		t.Errorf("got %v", err)
	}
	h = dial(t, oddServer(t, func(command string, ch ssh.Channel) uint32 {
		if command == "true" {
			return 0
		}
		for {
			if _, err := ch.Write(make([]byte, 32<<10)); err != nil {
				return 1
			}
		}
	}))
	if _, err := h.Run(deadline(t), Cmd{Argv: []string{"id"}}); !errors.Is(err, errNoise) {
		t.Errorf("endless noise: %v", err)
	}
}

func TestMarkMayComeInPieces(t *testing.T) {
	for cut := range len("noise mark\nrest") {
		var got bytes.Buffer
		a := newAfterMark("mark", &got, func() {})
		for _, part := range []string{"noise mark\nrest"[:cut], "noise mark\nrest"[cut:], "\n"} {
			if n, err := a.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got.String() != "rest\n" {
			t.Errorf("cut at %d: %q", cut, got.String())
		}
	}
}

// A session that ends without a word about its program is a loss.
func TestEndWithoutAStatusIsALoss(t *testing.T) {
	h := dial(t, oddServer(t, func(command string, ch ssh.Channel) uint32 {
		if command != "true" {
			ch.Close()
		}
		return 0
	}))
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	if _, err := h.Run(ctx, Cmd{Argv: []string{"id"}}); !errors.Is(err, ErrLost) {
		t.Errorf("got %v", err)
	}
}
