package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sweep/internal/launch"
	"sweep/internal/supervise"
)

func holdChecks() []Check {
	return []Check{
		inInstance("a held process outlives its starter and is found again", heldOutlives),
		inInstance("hold is idempotent by id", heldOnce),
		inInstance("a held process's exit and output are kept", heldExit),
		inInstance("E12 a held process has the instance's environment, the asked one over it, and nothing of ours", heldEnvironment),
		inInstance("a command that cannot be started says so", heldMissing),
		inInstance("a held process gets its secrets, the disk does not", heldSecrets),
		inInstance("stop ends the whole tree and may be repeated", heldStop),
		inInstance("ids cannot leave the directory", heldIDs),
	}
}

func heldOutlives(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	short, cancel := context.WithTimeout(ctx, time.Minute)
	_, err := launch.Hold(short, rt, in, supervise.Spec{ID: "server-1", Argv: []string{"/bin/sh", "-c", "echo up; exec sleep 600"}, Env: barePath()})
	cancel()
	if err != nil {
		return err
	}
	h, s, err := launch.Lookup(ctx, rt, in, "server-1") // as a new sweep would
	if err != nil {
		return err
	}
	if s.Phase != supervise.Running || s.PID == 0 || s.Alive != 1 {
		return fmt.Errorf("looked up: %+v", s)
	}
	if exit, err := h.Exit(ctx); exit != nil || err != nil {
		return broken(err, "exit of what runs: %v", exit)
	}
	return until(ctx, "its output can be read", func() bool { text, _ := h.Tail(ctx, 0); return string(text) == "up\n" })
}

func heldOnce(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	var first supervise.State
	for i := range 3 {
		h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "x", Argv: []string{"/bin/sh", "-c", fmt.Sprintf("echo %d; exec sleep 600", i)}, Env: barePath()})
		if err != nil {
			return err
		}
		s, err := h.State(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			first = s
		}
		if s.PID != first.PID || s.Since != first.Since || s.Phase != supervise.Running {
			return fmt.Errorf("hold number %d gives %+v, the first %+v", i+1, s, first)
		}
	}
	_, absent, err := launch.Lookup(ctx, rt, in, "y")
	if err != nil || absent.Phase != supervise.Absent {
		return broken(err, "an id that was never held: %+v", absent)
	}
	return nil
}

func heldExit(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	spec := supervise.Spec{ID: "x", Argv: []string{"/bin/sh", "-c", "echo out; echo err >&2; exit 37"}, Env: barePath()}
	h, err := launch.Hold(ctx, rt, in, spec)
	if err != nil {
		return err
	}
	var exit *supervise.Exit
	if err := until(ctx, "it ends", func() bool { exit, err = h.Exit(ctx); return exit != nil || err != nil }); err != nil {
		return err
	}
	if err != nil || exit.Code == nil || *exit.Code != 37 {
		return broken(err, "exit %v, want 37", exit)
	}
	if text, err := h.Tail(ctx, 0); err != nil || string(text) != "out\nerr\n" {
		return broken(err, "output %q", text)
	}
	if text, err := h.Tail(ctx, 4); err != nil || string(text) != "err\n" {
		return broken(err, "output from byte 4: %q", text)
	}
	again, err := launch.Hold(ctx, rt, in, spec)
	if err != nil {
		return fmt.Errorf("hold after the exit: %w", err)
	}
	if s, err := again.State(ctx); err != nil || s.Phase != supervise.Exited || s.Exit == nil || s.Exit.Code == nil || *s.Exit.Code != 37 {
		return broken(err, "held again after the exit: %+v", s)
	}
	return nil
}

func heldMissing(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "x", Argv: []string{"/nowhere/python3"}, Env: barePath()})
	if err != nil {
		return err
	}
	if exit, err := h.Exit(ctx); err != nil || exit == nil || exit.Error == "" || exit.Code != nil {
		return broken(err, "exit %+v", exit)
	}
	return nil
}

func heldSecrets(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	const secret = "hf_swordfish"
	h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "x", Argv: []string{"/bin/sh", "-c", `echo "${#TOKEN}"; exec sleep 600`},
		Env: barePath(), Secrets: []string{"TOKEN=" + secret}})
	if err != nil {
		return err
	}
	want := fmt.Sprintf("%d\n", len(secret))
	if err := until(ctx, "the command has its secret", func() bool { text, _ := h.Tail(ctx, 0); return string(text) == want }); err != nil {
		return err
	}
	found, err := sh(ctx, rt, in, `grep -r -l -F "$1" "$2" || true`, secret, in.Dir)
	if err != nil || found != "" {
		return broken(err, "the secret is on disk in %q", found)
	}
	return nil
}

func heldStop(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	marker := unique()
	h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "x", Argv: []string{"/bin/sh", "-c", stubborn, "sh", marker, in.Bin}, Env: barePath()})
	if err != nil {
		return err
	}
	if err := untilMarked(ctx, marker, 2); err != nil {
		return err
	}
	for range 2 {
		s, err := h.Stop(ctx, 200*time.Millisecond)
		if err != nil || s.Phase != supervise.Exited || s.Alive != 0 || !s.Killed || s.Exit == nil || s.Exit.Signal != "SIGKILL" {
			return broken(err, "stopped: %+v", s)
		}
		if left := Marked(marker); len(left) > 0 {
			return fmt.Errorf("processes %v live after stop", left)
		}
	}
	return nil
}

func heldIDs(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	for _, id := range []string{"", ".", "..", "../x", "a/b", "a b", "-a", strings.Repeat("a", 300)} {
		if _, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: id, Argv: []string{"/bin/true"}}); err == nil {
			return fmt.Errorf("the id %q was taken", id)
		}
		if _, _, err := launch.Lookup(ctx, rt, in, id); err == nil {
			return errors.New("an id that cannot be held can be looked up: " + id)
		}
	}
	return nil
}

// LeakVariable is one that a test of a runtime sets in its own environment, so
// that a leak into held processes can be seen.
const LeakVariable = "RUNTIMETEST_LEAK"

func heldEnvironment(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "env", Argv: []string{"/bin/sh", "-c", "env"}, Env: []string{"LANG=xx", "ASKED=1", "HOME"}})
	if err != nil {
		return err
	}
	var text []byte
	if err := until(ctx, "env has ended", func() bool {
		exit, _ := h.Exit(ctx)
		text, _ = h.Tail(ctx, 0)
		return exit != nil
	}); err != nil {
		return err
	}
	got := "\n" + string(text)
	for _, want := range []string{"\nLANG=xx\n", "\nASKED=1\n", "\nPATH=/"} {
		if !strings.Contains(got, want) {
			return fmt.Errorf("%q is missing in the environment:%s", want, got)
		}
	}
	if strings.Contains(got, "\nHOME=") {
		return fmt.Errorf("HOME was unset and is there:%s", got)
	}
	if strings.Contains(got, "\n"+LeakVariable+"=") {
		return fmt.Errorf("our own environment leaked:%s", got)
	}
	return nil
}
