package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// shortNight is a sweep of 2 configurations, 2 levels and 2 repeats that takes
// a few seconds.
const shortNight = `name: short
server:
  command: [sweep, sim, --preset, small, --startup-scale, "60", --time-scale, "4"]
  flags: {model-path: sim/small-8b}
  base-port: %d
matrix:
  cap:
    wide: {max-running-requests: 64}
    narrow: {max-running-requests: 2}
bench:
  workloads:
    tiny: {input-len: 32, output-len: 24, range-ratio: 1, seed: 1}
  levels:
    - {concurrency: 1, prompts: 4}
    - {concurrency: 8, prompts: 24}
repeats: 2
`

// place is a directory with a sweep file and all of sweep's state.
type place struct {
	t    *testing.T
	dir  string
	file string
	port int
	env  []string // NAME=value over all others
}

func newPlace(t *testing.T, yaml string) place {
	t.Helper()
	p := place{t: t, dir: t.TempDir(), port: freePort(t)}
	p.file = filepath.Join(p.dir, "night.yaml")
	if err := os.WriteFile(p.file, fmt.Appendf(nil, yaml, p.port), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.noneLeft("at the end of the test") })
	return p
}

// command is sweep in this place, not started.
func (p place) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	p.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, binary, args...)
	c.Env = append(append(os.Environ(), homes(p.dir)...), p.env...)
	c.Dir = p.dir
	return c
}

func (p place) mustRun(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("sweep %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// measurements maps each measurement.json below the data directory to the
// digest of its bytes.
func (p place) measurements() map[string]string {
	found := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(p.dir, "data/sweep/runs/*/*/attempt-*/levels/*/measurement.json"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			p.t.Fatal(err)
		}
		found[path] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return found
}

// journal is the text of the newest journal.
func (p place) journal() string {
	paths, _ := filepath.Glob(filepath.Join(p.dir, "data/sweep/nights/*/events.jsonl"))
	if len(paths) == 0 {
		return ""
	}
	text, _ := os.ReadFile(paths[len(paths)-1])
	return string(text)
}

// events counts the lines of the newest journal.
func (p place) events() int { return strings.Count(p.journal(), "\n") }

// noneLeft fails when any process runs a binary of this place.
func (p place) noneLeft(when string) {
	p.t.Helper()
	entries, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, e := range entries {
		target, err := os.Readlink(e)
		if err == nil && strings.HasPrefix(target, p.dir) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(e), "cmdline"))
			p.t.Errorf("%s: %s still runs %q", when, filepath.Base(filepath.Dir(e)), bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))
		}
	}
}

// complete checks that each planned run has exactly one whole measurement a
// level, and nothing more but what a server left when it died.
func (p place) complete() {
	p.t.Helper()
	type id struct{ config, key string }
	count := map[id]int{}
	var perRun = map[string]map[string]int{}
	for path := range p.measurements() {
		text, _ := os.ReadFile(path)
		var m struct {
			Key       string
			Ended     string
			Asked     int
			Completed int
		}
		if err := json.Unmarshal(text, &m); err != nil {
			p.t.Fatalf("%s: %v", path, err)
		}
		if m.Ended == "server-gone" && strings.Contains(path, "/attempt-1/") {
			continue // partial, kept beside the level's measurement by a later attempt
		}
		if m.Ended != "complete" || m.Asked != m.Completed {
			p.t.Errorf("%s: ended %s with %d of %d", path, m.Ended, m.Completed, m.Asked)
		}
		parts := strings.Split(strings.TrimPrefix(path, filepath.Join(p.dir, "data/sweep/runs")+"/"), "/")
		count[id{parts[0], m.Key}]++
		if perRun[parts[1]] == nil {
			perRun[parts[1]] = map[string]int{}
		}
		perRun[parts[1]][m.Key]++
	}
	if len(count) != 4 {
		p.t.Errorf("%d pairs of configuration and level measured, want 4", len(count))
	}
	for k, n := range count {
		if n != 2 {
			p.t.Errorf("%v measured %d times, want once a repeat", k, n)
		}
	}
	for run, keys := range perRun {
		for key, n := range keys {
			if n != 1 {
				p.t.Errorf("run %s measured %s %d times", run, key, n)
			}
		}
	}
}

// TestD13KilledNightGoesOn kills sweep at ten instants, each a number of
// journal entries and an offset, and runs the same command to the end: nothing
// measured is lost, nothing is doubled, no process is left.
func TestD13KilledNightGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; runs without -short")
	}
	instants := []struct {
		entries int
		offset  time.Duration
	}{{0, 20 * time.Millisecond}, {1, 0}, {2, 30 * time.Millisecond}, {4, 0}, {6, 100 * time.Millisecond},
		{8, 0}, {9, 300 * time.Millisecond}, {11, 50 * time.Millisecond}, {14, 0}, {18, 150 * time.Millisecond}}
	for _, at := range instants {
		t.Run(fmt.Sprintf("%d+%s", at.entries, at.offset), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, shortNight)
			c := p.command("run", p.file)
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); p.events() < at.entries && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(at.offset)
			_ = c.Process.Kill()
			_ = c.Wait()
			before := p.measurements()

			text := p.mustRun("run", p.file)
			after := p.measurements()
			for path, digest := range before {
				if after[path] != digest {
					t.Errorf("%s was measured before the kill and is gone or changed", path)
				}
			}
			p.complete()
			p.noneLeft("after the second run")
			if t.Failed() {
				t.Logf("first:\n%s\nsecond:\n%s", out.String(), text)
			}
		})
	}
}

// TestInterruptFinishesTeardown presses Ctrl-C in the middle of a level.
func TestInterruptFinishesTeardown(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shortNight)
	c := p.command("run", p.file)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); p.events() < 8 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	_ = c.Process.Signal(syscall.SIGINT)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, out.String())
	}
	p.noneLeft("after Ctrl-C")
	if conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", p.port), time.Second); err == nil {
		conn.Close()
		t.Error("the port still answers after Ctrl-C")
	}
	p.mustRun("run", p.file)
	p.complete()
}

// blocks counts the port ranges handed out to tests of this process.
var blocks atomic.Int64

// freePort returns the start of a range of 16 ports that nobody listens on,
// below the ephemeral ports, so that no outgoing connection takes one.
func freePort(t *testing.T) int {
	t.Helper()
	const first, last, size = 10000, 30000, 16
	for range 200 {
		block := (int64(os.Getpid())*7 + blocks.Add(1)) % ((last - first) / size)
		port := first + int(block)*size
		free := true
		for i := port; free && i < port+size; i++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", i))
			if free = err == nil; free {
				l.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("no free range of ports")
	return 0
}
