package runner

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sweep/internal/bench"
	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

var twoLevels = []bench.Level{
	{Mode: bench.Closed, Concurrency: 1, Prompts: 2, Workload: bench.Workload{InputLen: 8, OutputLen: 8, RangeRatio: 1, Seed: 1}},
	{Mode: bench.Closed, Concurrency: 4, Prompts: 8, Workload: bench.Workload{InputLen: 8, OutputLen: 8, RangeRatio: 1, Seed: 1}},
}

const config = "c0123456789"

// past is a data directory in which things have happened.
type past struct {
	t *testing.T
	*nightRun
}

func newPast(t *testing.T) past {
	t.Helper()
	dir, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plan := &sweep.Plan{Schema: 1, Name: "x", Levels: twoLevels, Hash: "h",
		Configurations: []sweep.Configuration{{ID: config, Name: "a=1", Command: []string{"sweep", "sim"}}},
		Runs:           []sweep.PlannedRun{{Ordinal: 1, Config: config, Repeat: 1}}}
	return past{t, &nightRun{Options: Options{Store: dir, Facts: sweep.HostFacts{Hostname: "here", Kernel: "6"}}, plan: plan,
		mapped: map[int]store.RunRef{}, ended: map[int]string{}}}
}

// run records a run of one attempt with the given levels measured.
func (p past) run(name string, status sweep.Status, facts sweep.HostFacts, measured ...bench.Measurement) store.RunRef {
	p.t.Helper()
	ref := store.RunRef{ID: config, Run: name}
	r := sweep.Record{Run: name, Repeat: 1, Attempt: 1, Configuration: p.plan.Configurations[0], Status: status,
		Started: time.Now(), Fingerprint: sweep.Fingerprint{Host: facts}}
	if status == sweep.StatusFailed {
		r.Failure = &sweep.Failure{Cause: sglang.Cause{Code: "cuda-oom", Class: sglang.Config}}
	}
	if err := p.Store.WriteRecord(r); err != nil {
		p.t.Fatal(err)
	}
	for _, m := range measured {
		if err := p.Store.WriteMeasurement(ref, 1, m); err != nil {
			p.t.Fatal(err)
		}
	}
	return ref
}

// good is a sound measurement of one of the two levels.
func good(level int) bench.Measurement {
	l := twoLevels[level]
	out, in, total, rate := 64.0, 64.0, 128.0, 8.0
	return bench.Measurement{Key: l.Key(), Level: l, Ended: bench.Complete, Asked: l.Prompts, Issued: l.Prompts, Completed: l.Prompts,
		InputTokens: new(int64(64)), OutputTokens: 64, Window: 1, OutputThroughput: &out, InputThroughput: &in, TotalThroughput: &total, RequestThroughput: &rate}
}

func ended(m bench.Measurement, how bench.Ended) bench.Measurement { m.Ended = how; return m }

func failing(m bench.Measurement) bench.Measurement {
	m.Completed, m.Failed = m.Issued/2, m.Issued-m.Issued/2
	return m
}

func TestDecide(t *testing.T) {
	here := sweep.HostFacts{Hostname: "here", Kernel: "6"}
	cases := []struct {
		name     string
		before   func(p past)
		want     action
		missing  int
		reattach bool
		attempt  int
		why      string
	}{
		{"nothing there", func(past) {}, fresh, 2, false, 1, ""},
		{"all measured", func(p past) { p.run("r1", sweep.StatusDone, here, good(0), good(1)) }, reuse, 0, false, 2, "same ID, host and levels"},
		{"a level more than before", func(p past) { p.run("r1", sweep.StatusDone, here, good(0)) }, resume, 1, false, 2, "levels it does not have; 1 of 2 levels are there"},
		{"its runner died", func(p past) { p.run("r1", sweep.StatusRunning, here, good(0)) }, resume, 1, true, 1, "its runner died"},
		{"interrupted", func(p past) { p.run("r1", sweep.StatusInterrupted, here) }, resume, 2, false, 2, "interrupted"},
		{"failed in another night", func(p past) { p.run("r1", sweep.StatusFailed, here, good(0)) }, resume, 1, false, 2, "goes on: it failed last time (cuda-oom)"},
		{"a partial level is measured again", func(p past) { p.run("r1", sweep.StatusFailed, here, ended(good(0), bench.ServerGone)) }, resume, 2, false, 2, "goes on: it failed last time (cuda-oom)"},
		{"another host", func(p past) {
			p.run("r1", sweep.StatusDone, sweep.HostFacts{Hostname: "there", Kernel: "6"}, good(0), good(1))
		}, fresh, 2, false, 1, "host there, now here"},
		{"another kernel", func(p past) {
			p.run("r1", sweep.StatusDone, sweep.HostFacts{Hostname: "here", Kernel: "5"}, good(0), good(1))
		}, fresh, 2, false, 1, "kernel 5, now 6"},
		{"an invalid level", func(p past) { p.run("r1", sweep.StatusDone, here, good(0), failing(good(1))) }, fresh, 2, false, 1, "invalid at c=4"},
		{"the newest counts", func(p past) {
			p.run("20260101T000000.000-aaaa", sweep.StatusDone, here, good(0), good(1))
			p.run("20260102T000000.000-aaaa", sweep.StatusInterrupted, here, good(0))
		}, resume, 1, false, 2, "interrupted"},
		{"this night's own failure is left alone", func(p past) {
			p.mapped[1], p.ended[1] = p.run("r1", sweep.StatusFailed, here), string(sweep.StatusFailed)
		}, leave, 2, false, 2, "failed earlier in this night"},
		{"this night's run without a record yet", func(p past) { p.mapped[1] = store.RunRef{ID: config, Run: "r9"} }, resume, 2, false, 1, ""},
		{"another repeat is another run", func(p past) {
			p.run("r1", sweep.StatusDone, here, good(0), good(1))
			p.plan.Runs[0].Repeat = 2
		}, fresh, 2, false, 1, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPast(t)
			c.before(p)
			d, err := p.decide(t.Context(), p.plan.Runs[0])
			if err != nil {
				t.Fatal(err)
			}
			if d.action != c.want || len(d.missing) != c.missing || d.reattach != c.reattach || d.attempt != c.attempt || !strings.Contains(d.why, c.why) {
				t.Errorf("got %+v", d)
			}
			if len(d.missing)+len(d.have) != 2 {
				t.Errorf("%d missing and %d kept are not 2 levels", len(d.missing), len(d.have))
			}
		})
	}
}

// D21: a measurement of other packages is never taken for one of these.
func TestD21OtherPackagesAreMeasuredAnew(t *testing.T) {
	here := sweep.HostFacts{Hostname: "here", Kernel: "6"}
	for _, c := range []struct {
		name string
		then map[string]string // when it was measured; null: not known
		want action
		why  string
	}{
		{"the same", map[string]string{"sglang": "0.5.10.post1", "torch": "2.9.1"}, reuse, "same ID, host and levels"},
		{"a newer sglang", map[string]string{"sglang": "0.5.9", "torch": "2.9.1"}, fresh, "anew: run r1 is of other packages (sglang 0.5.9, now 0.5.10.post1)"},
		{"one more", map[string]string{"sglang": "0.5.10.post1"}, fresh, "anew: run r1 is of other packages (torch none, now 2.9.1)"},
		{"not known", nil, reuse, "same ID, host and levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPast(t)
			p.plan.Configurations[0].Command = []string{"python3", "-m", "sglang.launch_server"}
			p.facts = newFactsAsker(&answering{asked: map[string]int{}, packages: map[string]string{"sglang": "0.5.10.post1", "torch": "2.9.1"}}, "n")
			ref := p.run("r1", sweep.StatusDone, here, good(0), good(1))
			run, _, err := p.Store.LoadRun(ref)
			if err != nil {
				t.Fatal(err)
			}
			run.Records[0].Fingerprint.Packages = c.then
			if err := p.Store.WriteRecord(run.Records[0]); err != nil {
				t.Fatal(err)
			}
			d, err := p.decide(t.Context(), p.plan.Runs[0])
			if err != nil || d.action != c.want || !strings.HasPrefix(d.why, c.why) {
				t.Errorf("%v, %+v", err, d)
			}
		})
	}
}

func TestHostHasOneLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "below", "host.lock")
	unlock, err := lockHost(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockHost(dir); err == nil || !strings.Contains(err.Error(), "another sweep is running here (pid ") {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := lockHost(dir)
	if err != nil {
		t.Fatalf("after the first was given back: %v", err)
	}
	again()
}
