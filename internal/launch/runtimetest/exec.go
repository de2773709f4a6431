package runtimetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sweep/internal/launch"
)

func execChecks() []Check {
	return []Check{
		inInstance("E04 argv arrives byte for byte", argvBytes),
		inInstance("exit codes arrive", exitCodes),
		inInstance("env, dir and stdin arrive", envDirStdin),
		inInstance("the end of ctx kills the command", ctxKills),
		inInstance("E14 big output is drained and bounded", bigOutput),
		inInstance("E03 a background child cannot hold exec", backgroundChild),
		inInstance("an unread stdin cannot hold exec", unreadStdin),
	}
}

func argvBytes(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	args := []string{"a b", "", "'", `"`, `\`, "$HOME", "`id`", "$(id)", "*", ";", "&&", "|", "#", "~", "!", "a\nb", "\t", " lead", "trail ",
		`{"enable_multithread_load": true, "s": "it's \"x\" \\ $y"}`, "přílišžluťoučký", "\xff\xfe", "--flag=v", "-x", "--", "%s%d", "\r", ""}
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: append([]string{"/bin/sh", "-c", `for a; do printf '%s\0' "$a"; done`, "sh"}, args...)})
	if err != nil {
		return err
	}
	want := strings.Join(args, "\x00") + "\x00"
	if got := string(res.Stdout); got != want {
		return fmt.Errorf("the command got %q, want %q", got, want)
	}
	return nil
}

func exitCodes(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	for _, code := range []int{0, 1, 2, 37, 125, 255} {
		res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/sh", "-c", fmt.Sprintf("echo out; echo err >&2; exit %d", code)}})
		if err != nil || res.Code != code || string(res.Stdout) != "out\n" || string(res.Stderr) != "err\n" {
			return broken(err, "a command that exits with %d: code %d, stdout %q, stderr %q", code, res.Code, res.Stdout, res.Stderr)
		}
	}
	if res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/sh", "-c", "kill -KILL $$"}}); err != nil || res.Code != 137 {
		return broken(err, "a command ended by SIGKILL: code %d, want 137", res.Code)
	}
	if res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/nowhere/python3"}}); err == nil && res.Code != 126 && res.Code != 127 {
		return fmt.Errorf("a missing command: code %d and no error", res.Code)
	}
	return nil
}

func envDirStdin(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	sent := bytes.Repeat([]byte("0123456789abcdef\x00\xff\n"), 50_000) // more than a pipe holds
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/sh", "-c", `printf '%s|%s|' "$A" "$(pwd)"; exec cat`},
		Env: []string{"A=x y='$z'"}, Dir: "/usr", Stdin: bytes.NewReader(sent)})
	if err != nil {
		return err
	}
	if want := append([]byte("x y='$z'|/usr|"), sent...); !bytes.Equal(res.Stdout, want) {
		return fmt.Errorf("got %d bytes that begin %.60q, want %d that begin %.60q", len(res.Stdout), res.Stdout, len(want), want)
	}
	return nil
}

func ctxKills(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	marker := unique()
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := rt.Exec(short, in, launch.Cmd{Argv: []string{"/bin/sh", "-c",
			`sh -c 'while :; do sleep 1; done' "$1" & while :; do sleep 1; done`, "sh", marker}})
		ended <- err
	}()
	if err := untilMarked(ctx, marker, 2); err != nil {
		return err
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			return broken(err, "exec with an ended context does not return the context's error")
		}
	case <-time.After(10 * time.Second):
		return errors.New("exec does not return 10 s after its context ended")
	}
	return untilGone(ctx, marker)
}

func bigOutput(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	const n = launch.MaxExecOutput + 1_000_000
	script := fmt.Sprintf(`head -c %d /dev/zero | tr '\0' e >&2; head -c %d /dev/zero | tr '\0' o; exit 3`, n, n)
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/sh", "-c", script}})
	if err != nil {
		return err
	}
	if res.Code != 3 || len(res.Stdout) != launch.MaxExecOutput || len(res.Stderr) != launch.MaxExecOutput {
		return fmt.Errorf("code %d with %d and %d bytes, want code 3 with %d each", res.Code, len(res.Stdout), len(res.Stderr), launch.MaxExecOutput)
	}
	if len(bytes.Trim(res.Stdout, "o")) > 0 || len(bytes.Trim(res.Stderr, "e")) > 0 {
		return errors.New("the streams are mixed up")
	}
	return nil
}

func backgroundChild(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	began := time.Now()
	out, err := sh(ctx, rt, in, `sleep 600 & echo $!; exit 0`)
	if err != nil {
		return err
	}
	pid := strings.TrimSpace(out)
	defer rt.Exec(ctx, in, launch.Cmd{Argv: []string{"kill", "-KILL", pid}}) //nolint:errcheck // it may be gone
	if took := time.Since(began); took > 10*time.Second || pid == "" {
		return fmt.Errorf("it took %v, with the output %q", took, out)
	}
	return nil
}

func unreadStdin(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	never, stop := io.Pipe()
	defer stop.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/true"}, Stdin: never})
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		return errors.New("exec waits for an input that its command never read")
	}
}
