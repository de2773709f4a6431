package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// labNight is four configurations on two levels; what they differ in is worth
// far more than the noise of a crowded machine.
const labNight = `name: lab
host: %s
container: {%s}
server:
  command: [sweep, sim, --preset, small, --startup-scale, "60"]
  flags: {model-path: sim/small-8b}
matrix:
  cap: {wide: {max-running-requests: 64}, narrow: {max-running-requests: 2}}
  cuda-graph: {"on": {}, "off": {disable-cuda-graph: true}}
bench:
  workloads: {tiny: {input-len: 32, output-len: 12, range-ratio: 1, seed: 1}}
  levels:
    - {concurrency: 1, prompts: 4}
    - {concurrency: 8, prompts: 24}
`

// inLab returns a variable of the lab; without a lab the test is skipped.
func inLab(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("no lab: %s is not set; `lab/up` brings one up, see lab/README.md", name)
	}
	return value
}

// staticSweep builds a sweep for containers, which has no race detector in it.
func staticSweep(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sweep-static")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a static sweep: %v\n%s", err, out)
	}
	return file
}

// labPlace is a place whose sweep uses the tools of a lab host.
func labPlace(t *testing.T, host, agent, yaml string) place {
	t.Helper()
	p := place{t: t, dir: t.TempDir()}
	p.file = filepath.Join(p.dir, "night.yaml")
	if err := os.WriteFile(p.file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"PATH=" + inLab(t, "LAB_"+host+"_BIN") + ":" + os.Getenv("PATH"), "INCUS_DIR=" + inLab(t, "LAB_"+host+"_INCUS_DIR"), "SWEEP_AGENT=" + agent,
		"SWEEP_LXC_PATH=" + inLab(t, "LAB_"+host+"_LXCPATH"), "SWEEP_SSH_CONFIG=" + inLab(t, "LAB_"+host+"_SSH_CONFIG")}
	t.Cleanup(func() { p.noneLeft("at the end of the test") })
	return p
}

// throughputs are the output tokens a second of each configuration and level.
func (p place) throughputs() map[string]float64 {
	p.t.Helper()
	found := map[string]float64{}
	for path := range p.measurements() {
		var m struct {
			Key              string
			Ended            string
			OutputThroughput float64 `json:"output_throughput"`
		}
		var r struct{ Configuration struct{ Name string } }
		attempt := filepath.Dir(filepath.Dir(filepath.Dir(path)))
		for file, into := range map[string]any{path: &m, filepath.Join(attempt, "record.json"): &r} {
			text, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(text, into)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}
		if m.Ended != "complete" {
			p.t.Errorf("%s ended %s", path, m.Ended)
		}
		level, _, _ := strings.Cut(m.Key, "-")
		name := r.Configuration.Name + " " + level
		if _, twice := found[name]; twice {
			p.t.Errorf("%s was measured twice", name)
		}
		found[name] = m.OutputThroughput
	}
	return found
}

// TestLabSameComparisonInEveryContainer runs one sweep file over real SSH in
// real containers of each runtime, held both ways, and compares with the bare
// machine.
func TestLabSameComparisonInEveryContainer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes; runs without -short")
	}
	inLab(t, "SWEEP_LAB")
	agent := staticSweep(t)
	images := inLab(t, "LAB_IMAGES")
	bare := labPlace(t, "H0", agent, fmt.Sprintf(labNight, "local", "runtime: process"))
	bare.mustRun("run", bare.file)
	want := bare.throughputs()
	if len(want) != 8 {
		t.Fatalf("the bare machine has %d measurements, want 8", len(want))
	}
	for _, c := range []struct{ name, container string }{
		{"process", "runtime: process"},
		{"incus image", "runtime: incus, image: tiny"},
		{"incus instance", "runtime: incus, instance: INCUS"},
		{"lxc image", "runtime: lxc, image: " + images + "/tiny.tar.gz"},
		{"lxc instance", "runtime: lxc, instance: " + inLab(t, "LAB_LXC_INSTANCE")},
		{"pct instance", "runtime: pct, instance: " + inLab(t, "LAB_PCT_INSTANCE")},
		{"docker image", "runtime: docker, image: " + os.Getenv("LAB_PODMAN_IMAGE")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.name, "docker") {
				inLab(t, "LAB_PODMAN_IMAGE")
			}
			container := strings.ReplaceAll(c.container, "INCUS", incusInstance(t, c.container))
			p := labPlace(t, "H0", agent, fmt.Sprintf(labNight, "lab0", container))
			text := p.mustRun("run", p.file)
			got := p.throughputs()
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
				t.Fatalf("measured %v, want %v\n%s", got, want, text)
			}
			for name, v := range want {
				if math.Abs(math.Log(got[name]/v)) > 0.2 {
					t.Errorf("%s: %.1f output tok/s, on the bare machine %.1f", name, got[name], v)
				}
				for other, u := range want { // the comparison: who wins where it matters
					if v > 1.3*u && got[name] <= got[other] {
						t.Errorf("%s does not win against %s as on the bare machine", name, other)
					}
				}
			}
			if again := p.mustRun("run", p.file); !strings.Contains(again, "0 levels measured, 8 reused") {
				t.Errorf("a second run measures again:\n%s", again)
			}
			if left := p.mustRun("clean", "lab0"); !strings.Contains(left, "nothing of sweep's is left") {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// incusInstance makes a running container that sweep finds there, where the
// test is for one.
func incusInstance(t *testing.T, container string) string {
	t.Helper()
	if !strings.Contains(container, "INCUS") {
		return ""
	}
	name := fmt.Sprintf("lab-night-%d", os.Getpid())
	incus := func(args ...string) {
		c := exec.Command("incus", args...)
		c.Env = append(os.Environ(), "INCUS_DIR="+inLab(t, "LAB_H0_INCUS_DIR"), "INCUS_CONF="+inLab(t, "LAB_H0_INCUS_CONF"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("incus %v: %v\n%s", args, err, out)
		}
	}
	incus("launch", "-q", "tiny", name)
	t.Cleanup(func() { incus("delete", "-f", name) })
	return name
}

// measuring tells whether requests of a level have been answered.
func measuring(journal, level string) bool {
	for line := range strings.Lines(journal) {
		if strings.Contains(line, `"level.progress"`) && strings.Contains(line, `"level":"`+level+`"`) && strings.Contains(line, `"done":`) {
			return true
		}
	}
	return false
}

// labLevel is one configuration with one level of about ten seconds.
const labLevel = `name: faults
container: {runtime: incus, image: tiny}
server:
  command: [sweep, sim, --preset, small, --startup-scale, "60"]
  flags: {model-path: sim/small-8b}
matrix: {max-running-requests: [64]}
bench:
  workloads: {tiny: {input-len: 64, output-len: 32, range-ratio: 1, seed: 1}}
  levels: [{concurrency: 8, prompts: 240}, {concurrency: 1, prompts: 2}]
`

// TestLabDaemonFaultsUnderLoad restarts, kills and hangs the container daemon
// while a level is measured: nothing is lost, nothing is done twice.
func TestLabDaemonFaultsUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; runs without -short")
	}
	dir := inLab(t, "LAB_DIR")
	agent := staticSweep(t)
	lock, err := os.OpenFile(filepath.Join(inLab(t, "LAB_ROOT"), "faults.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) // tests of another package do the same to that daemon
	}
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for _, c := range []struct {
		name   string
		faults [][]string // of lab/incusd, a second between them
	}{
		{"restarted", [][]string{{"1", "restart"}}},
		{"killed", [][]string{{"1", "kill"}, nil, nil, {"1", "start"}}},
		{"hung", [][]string{{"1", "hang"}, nil, nil, nil, {"1", "wake"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := labPlace(t, "H1", agent, labLevel)
			run := p.command("run", p.file)
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, &out
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); !measuring(p.journal(), "c=8"); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					_ = run.Process.Kill()
					_ = run.Wait()
					t.Fatalf("no level was begun:\n%s", out.String())
				}
			}
			for _, args := range c.faults {
				if args != nil {
					fault := exec.Command(filepath.Join(dir, "incusd"), args...)
					if text, err := fault.CombinedOutput(); err != nil {
						t.Errorf("lab/incusd %v: %v\n%s", args, err, text)
					}
				}
				time.Sleep(time.Second)
			}
			if strings.Count(p.journal(), `"level.end"`) > 1 { // the single stream comes first
				t.Error("the level had ended before the fault was over: this test shows nothing")
			}
			if err := run.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if got := p.throughputs(); len(got) != 2 {
				t.Errorf("measured %v, want two levels", got)
			}
			if n := strings.Count(p.journal(), `"attempt.start"`); n != 1 {
				t.Errorf("%d attempts, want 1", n)
			}
			if left := p.mustRun("clean"); !strings.Contains(left, "nothing of sweep's is left") {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}
