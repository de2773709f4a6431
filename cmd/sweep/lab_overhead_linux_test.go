package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sweep/internal/incus"
)

// overheadNight has runs that are over quickly, so that what sweep adds shows.
const overheadNight = `name: overhead
container: {%s}
server:
  command: [sweep, sim, --preset, small, --startup-scale, "60"]
  flags: {model-path: sim/small-8b}
matrix: {max-running-requests: [64]}
bench:
  workloads: {tiny: {input-len: 32, output-len: 24, range-ratio: 1, seed: 1}}
  levels: [{concurrency: 1, prompts: 4}]
repeats: 7
`

// TestLabOverhead measures what a run over Incus costs beside the start of the
// server, the warm-up and the level, next to the raw REST cycle in the same
// minutes. It prints a table and asserts nothing about time:
//
//	go test -run TestLabOverhead -v ./cmd/sweep
func TestLabOverhead(t *testing.T) {
	socket := inLab(t, "LAB_H0_INCUS_SOCKET")
	if os.Getenv("SWEEP_LONG") == "" {
		t.Skip("a figure for docs/benchmarks.md; set SWEEP_LONG=1")
	}
	agent := staticSweep(t)
	raw := rawCycles(t, incus.New(socket, ""), 7)
	steps := map[string]map[string]time.Duration{}
	for _, container := range []string{"runtime: process", "runtime: incus, image: tiny"} {
		p := labPlace(t, "H0", agent, fmt.Sprintf(overheadNight, container))
		p.mustRun("run", p.file)
		steps[container] = p.runSteps()
	}
	raw = append(raw, rawCycles(t, incus.New(socket, ""), 7)...)
	cycle := median(raw)
	fmt.Printf("raw REST cycle (create, start, exec true, stop -f, delete): median %d ms, n=%d\n", cycle.Milliseconds(), len(raw))
	fmt.Printf("%-52s %8s %8s\n", "median of 7 runs, ms", "process", "incus")
	for _, name := range stepNames {
		fmt.Printf("%-52s %8d %8d\n", name, steps["runtime: process"][name].Milliseconds(), steps["runtime: incus, image: tiny"][name].Milliseconds())
	}
	sum := steps["runtime: incus, image: tiny"][overheadStep]
	fmt.Printf("overhead %d ms; 1.3 x raw + 200 ms = %d ms\n", sum.Milliseconds(), (cycle*13/10 + 200*time.Millisecond).Milliseconds())
}

const overheadStep = "overhead: all of these"

var stepNames = []string{"decide, name, first record", "instance made, server held", "server found ready, record", "bench held, until its warm-up", "level brought home", "stopped, removed, proven clean", "record, end", overheadStep}

// rawCycles are what the daemon itself needs for the life of one container.
func rawCycles(t *testing.T, c *incus.Client, n int) []time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range n {
		name := fmt.Sprintf("lab-raw-%d-%d", os.Getpid(), i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		began := time.Now()
		err := c.Create(ctx, incus.CreateRequest{Name: name, Image: "tiny"})
		if err == nil {
			err = c.Start(ctx, name)
		}
		if err == nil {
			_, err = c.Exec(ctx, name, incus.ExecRequest{Argv: []string{"true"}})
		}
		if err == nil {
			err = c.Stop(ctx, name, true, 0)
		}
		if err == nil {
			err = c.Delete(ctx, name)
		}
		all = append(all, time.Since(began))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// runSteps are the medians of what each run of a night took beside its server
// and its levels.
func (p place) runSteps() map[string]time.Duration {
	p.t.Helper()
	type event struct {
		Type, Run, Phase string
		At               time.Time
		Seconds          float64
	}
	runs := map[string]map[string]event{}
	for line := range strings.Lines(p.journal()) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		if e.Run == "" {
			continue
		}
		if runs[e.Run] == nil {
			runs[e.Run] = map[string]event{}
		}
		if _, seen := runs[e.Run][e.Type]; !seen || e.Type != "phase" {
			runs[e.Run][e.Type] = e
		}
	}
	all := map[string][]time.Duration{}
	for run, at := range runs {
		var record struct {
			Phases []struct {
				Name    string
				Started time.Time
			}
		}
		var m struct {
			Started time.Time
			Window  float64 `json:"window_s"`
		}
		for pattern, into := range map[string]any{"attempt-1/record.json": &record, "attempt-1/levels/*/measurement.json": &m} {
			files, _ := filepath.Glob(filepath.Join(p.dir, "data/sweep/runs/*", run, pattern))
			if len(files) != 1 {
				p.t.Fatalf("%d files of %s for run %s\n%s", len(files), pattern, run, p.journal())
			}
			text, err := os.ReadFile(files[0])
			if err == nil {
				err = json.Unmarshal(text, into)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}
		held := record.Phases[0].Started
		serving := held.Add(time.Duration(at["ready"].Seconds * float64(time.Second)))
		ended := m.Started.Add(time.Duration(m.Window * float64(time.Second)))
		var sum time.Duration
		for i, d := range []time.Duration{
			at["attempt.start"].At.Sub(at["run.start"].At), held.Sub(at["attempt.start"].At), at["level.start"].At.Sub(serving),
			m.Started.Sub(at["level.start"].At), at["level.end"].At.Sub(ended), at["attempt.end"].At.Sub(at["level.end"].At), at["run.end"].At.Sub(at["attempt.end"].At)} {
			all[stepNames[i]] = append(all[stepNames[i]], d)
			sum += d
		}
		all[overheadStep] = append(all[overheadStep], sum)
	}
	medians := map[string]time.Duration{}
	for name, d := range all {
		medians[name] = median(d)
	}
	return medians
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
