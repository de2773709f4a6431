package incus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

func TestLabExec(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 3*time.Minute)
	name := labInstance(t, c, "exec")

	args := []string{"a b", "", "'", `"`, `\`, "$HOME", "`id`", "$(id)", "*", ";", "a\nb", "\t", " lead", "trail ", `{"s": "it's \"x\" \\ $y"}`, "přílišžluťoučký", "🦊", "--flag=v", "-x", "--", "%s", "\r", "\x7f\x1b", ""}
	res, err := c.Exec(ctx, name, ExecRequest{Argv: append([]string{"/bin/sh", "-c", `for a; do printf '%s\0' "$a"; done`, "sh"}, args...)})
	if want := strings.Join(args, "\x00") + "\x00"; err != nil || string(res.Stdout) != want {
		t.Errorf("got %q, %v, want %q", res.Stdout, err, want)
	}
	input := make([]byte, 1<<20)
	for i := range input {
		input[i] = byte(i * 7)
	}
	res, err = c.Exec(ctx, name, ExecRequest{Argv: []string{"/bin/sh", "-c", `printf '%s|%s|%s|' "$A" "$(pwd)" "$(id -u)"; exec cat`}, Env: []string{"A=x y='$z'"}, Dir: "/usr", User: 65534, Group: 65534, Stdin: bytes.NewReader(input), MaxOutput: 2 << 20})
	if want := append([]byte("x y='$z'|/usr|65534|"), input...); err != nil || !bytes.Equal(res.Stdout, want) || res.Cut {
		t.Errorf("got %d bytes that begin %.40q, %v", len(res.Stdout), res.Stdout, err)
	}
	res, err = c.Exec(ctx, name, ExecRequest{Argv: []string{"/bin/sh", "-c", "head -c 50000000 /dev/zero | tr '\\0' o; head -c 5000000 /dev/zero | tr '\\0' e >&2; exit 3"}, MaxOutput: 1000})
	if err != nil || res.Code != 3 || !res.Cut || string(res.Stdout) != strings.Repeat("o", 1000) || string(res.Stderr) != strings.Repeat("e", 1000) {
		t.Errorf("large output: code %d, %d and %d bytes, cut %v, %v", res.Code, len(res.Stdout), len(res.Stderr), res.Cut, err)
	}
	// A command that does not read its input, and one that leaves a child.
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"true"}, Stdin: bytes.NewReader(make([]byte, 5<<20))}); err != nil || res.Code != 0 {
		t.Errorf("unread input: %+v, %v", res, err)
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "sleep 100 & echo done"}}); err != nil || string(res.Stdout) != "done\n" {
		t.Errorf("a child in the background: %+v, %v", res, err)
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"/nowhere/python3"}}); err != nil || res.Code != 127 {
		t.Errorf("no such command: %+v, %v", res, err)
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"/etc/passwd"}}); err != nil || res.Code != 126 {
		t.Errorf("not executable: %+v, %v", res, err)
	}
	if _, err := c.Exec(ctx, "incus-test-none", ExecRequest{Argv: []string{"true"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("not there: %v", err)
	}
}

func TestLabExitCodes(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 3*time.Minute)
	name := labInstance(t, c, "codes")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	check := func(script string, code int) {
		group.Go(func() error {
			res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"/bin/sh", "-c", script}})
			if err != nil || res.Code != code || string(res.Stdout) != "out\n" {
				return fmt.Errorf("%s: code %d, %q, %w", script, res.Code, res.Stdout, err)
			}
			return nil
		})
	}
	for code := range 256 {
		check(fmt.Sprintf("echo out; exit %d", code), code)
	}
	// Not 2 and 3: a daemon that a shell started in the background ignores
	// them, and so does all that it starts.
	for _, signal := range []int{1, 6, 9, 11, 15} {
		check(fmt.Sprintf("echo out; kill -%d $$", signal), 128+signal)
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// The end of the context ends the command inside.
func TestLabExecKill(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, time.Minute)
	name := labInstance(t, c, "kill")
	short, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(short, name, ExecRequest{Argv: []string{"/bin/sh", "-c", "echo $$ >/tmp/pid; trap '' TERM; while :; do sleep 0.1; done"}})
		ended <- err
	}()
	pid := labWritten(ctx, t, c, name, "/tmp/pid")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
	// It was waited for, so it is gone by now.
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"test", "-e", "/proc/" + pid}}); err != nil || res.Code != 1 {
		t.Errorf("it still runs: %+v, %v", res, err)
	}
}

// The instance goes while a command runs in it.
func TestLabExecStopped(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, time.Minute)
	name := labInstance(t, c, "gone")
	ended := make(chan error, 1)
	var res ExecResult
	go func() {
		var err error
		res, err = c.Exec(ctx, name, ExecRequest{Argv: []string{"/bin/sh", "-c", "echo x >/tmp/pid; exec sleep 1000"}})
		ended <- err
	}()
	labWritten(ctx, t, c, name, "/tmp/pid")
	if err := c.Stop(ctx, name, true, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil && res.Code != 137 {
		t.Errorf("got %+v", res)
	}
}

// labWritten waits for a file inside and returns what is in it.
func labWritten(ctx context.Context, t *testing.T, c *Client, name, at string) string {
	t.Helper()
	for {
		text, err := c.ReadAt(ctx, name, at, 0, 100)
		if err == nil && len(text) > 0 {
			return strings.TrimSpace(string(text))
		}
		if !sleep(ctx, 20*time.Millisecond) {
			t.Fatalf("%s does not come: %v", at, err)
		}
	}
}
