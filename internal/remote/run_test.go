package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestE04ArgumentsArriveByteForByte(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	for i, args := range argLists(100) {
		out, err := h.Output(deadline(t), Cmd{Argv: append([]string{"/usr/bin/printf", `%s\0`}, args...)}, 1<<20)
		if err != nil {
			t.Fatalf("%d %q: %v", i, args, err)
		}
		if !bytes.Equal(out, nulJoined(args)) {
			t.Fatalf("%d: printed\n%q, not\n%q", i, out, nulJoined(args))
		}
	}
}

func TestRunPassesAllOn(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	var stdout, stderr bytes.Buffer
	in := bytes.Repeat([]byte("\x00binary\xff\n"), 100_000)
	code, err := h.Run(deadline(t), Cmd{
		Argv:  []string{"/bin/sh", "-c", `echo "$A|$B|$PWD" >&2; cat; exit 7`},
		Env:   []string{"A=x y'z", "B=\n!"},
		Dir:   "/usr/bin",
		Stdin: bytes.NewReader(in), Stdout: &stdout, Stderr: &stderr,
	})
	check(t, err)
	if code != 7 || stderr.String() != "x y'z|\n!|/usr/bin\n" || !bytes.Equal(stdout.Bytes(), in) {
		t.Errorf("code %d, stderr %q, %d bytes of %d", code, stderr.String(), stdout.Len(), len(in))
	}
}

func TestEndsOfACommand(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	for _, c := range []struct {
		cmd  Cmd
		code int
	}{
		{Cmd{Argv: []string{"true"}}, 0},
		{Cmd{Argv: []string{"false"}}, 1},
		{Cmd{Argv: []string{"/bin/sh", "-c", "exit 255"}}, 255},
		{Cmd{Argv: []string{"/nonexistent/program"}}, 127},
		{Cmd{Argv: []string{"/etc/passwd"}}, 126},
	} {
		if code, err := h.Run(ctx, c.cmd); code != c.code || err != nil {
			t.Errorf("%v: code %d, %v; want %d", c.cmd, code, err, c.code)
		}
	}
	_, err := h.Run(ctx, Cmd{Argv: []string{"/bin/sh", "-c", "kill -9 $$"}})
	var signal *SignalError
	if !errors.As(err, &signal) || signal.Signal != "KILL" {
		t.Errorf("signal: %v", err)
	}
	_, err = h.Run(ctx, Cmd{Argv: []string{"true"}, Dir: "/no/such directory"})
	var start *StartError
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "/no/such directory") {
		t.Errorf("directory: %v", err)
	}
	_, err = h.Output(ctx, Cmd{Argv: []string{"ls", "/no/such"}}, 100)
	var exit *ExitError
	if !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "/no/such") {
		t.Errorf("exit error: %v", err)
	}
	if _, err = h.Output(ctx, Cmd{Argv: []string{"yes"}}, 1000); !errors.Is(err, errOutput) {
		t.Errorf("endless output: %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	s := startSSHD(t)
	h := dial(t, s.settings())
	ctx, cancel := context.WithCancel(deadline(t))
	reason := make(chan error, 1)
	began := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := h.Run(ctx, Cmd{Argv: []string{"/bin/sh", "-c", "echo up; exec sleep 600"}, Stdin: blocked{}, Stdout: writerFunc(func([]byte) { once.Do(func() { close(began) }) })})
		reason <- err
	}()
	<-began
	cancel()
	select {
	case err := <-reason:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Run goes on after its context")
	}
	if code, err := h.Run(deadline(t), Cmd{Argv: []string{"true"}}); code != 0 || err != nil {
		t.Errorf("the connection is not usable any more: %d, %v", code, err)
	}
}

// A reader that never returns must not hold Run back once the program ended.
func TestRunDoesNotWaitForItsInput(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	if code, err := h.Run(deadline(t), Cmd{Argv: []string{"true"}, Stdin: blocked{}}); code != 0 || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
}

func TestSudoThatWantsAPassword(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir+"/sudo", `#!/bin/sh
echo "sudo: a password is required" >&2; exit 1`)
	h := dial(t, startSSHD(t, "SetEnv PATH="+dir+":/usr/bin:/bin").settings())
	_, err := h.Run(deadline(t), Cmd{Argv: []string{"id"}, Sudo: true})
	var start *StartError
	if !errors.As(err, &start) || !start.Sudo || !strings.Contains(err.Error(), "NOPASSWD") {
		t.Errorf("got %v", err)
	}
	writeProgram(t, dir+"/sudo", `#!/bin/sh
[ "$1 $2" = "-n --" ] || exit 9
shift 2; exec "$@"`)
	out, err := h.Output(deadline(t), Cmd{Argv: []string{"printf", "%s.", "a b", "$A", "'"}, Env: []string{"A=1"}, Dir: "/", Sudo: true}, 100)
	if string(out) != "a b.$A.'." || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	_, err = h.Run(deadline(t), Cmd{Argv: []string{"id"}, Dir: "/no/such", Sudo: true})
	if !errors.As(err, &start) || start.Sudo {
		t.Errorf("a missing directory is laid on sudo: %v", err)
	}
}

func TestE09ManyCommandsAtOnce(t *testing.T) {
	h := dial(t, startSSHD(t, "MaxSessions 2").settings())
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			out, err := h.Output(deadline(t), Cmd{Argv: []string{"echo", fmt.Sprint(i)}}, 100)
			if err != nil || string(out) != fmt.Sprintln(i) {
				t.Errorf("%d: %q, %v", i, out, err)
			}
		})
	}
	wait.Wait()
}

// blocked is a terminal at which nobody types.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

var _ io.Writer = writerFunc(nil)
