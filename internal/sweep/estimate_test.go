package sweep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/bench"
)

const estimated = `name: estimated
server: {command: [launch]}
matrix: {max-running-requests: [4, 64]}
bench:
  workloads: {w: {input-len: 100, output-len: 100, range-ratio: 1}}
  levels: [{concurrency: 1, prompts: 10}, {concurrency: 8, prompts: 80}, {concurrency: 16, prompts: 80}]
repeats: 2
night: {cooldown: 1m}
`

// simple assumptions that can be followed by hand: 10 output tok/s whatever the
// load, prefill for nothing.
var simple = Assumptions{Start: 10 * time.Minute, Stop: time.Minute, Input: 1e18, Output: []AssumedRate{{1, 10}}}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -time.Second || d > time.Second {
		t.Errorf("%s %s, want %s", what, got, want)
	}
}

// TestEstimateByHand: 2 configurations × 2 repeats. A level of n prompts takes
// 100 n / 10 s and a warm-up of 32 tokens for each slot.
func TestEstimateByHand(t *testing.T) {
	plan := planOf(t, estimated, PlanOptions{})
	e := plan.Estimate(simple, nil)
	level := func(prompts, slots int) time.Duration {
		return time.Duration((float64(prompts)*100/10 + 32*float64(slots)/10) * float64(time.Second))
	}
	low, mid, high := level(10, 1), level(80, 8), level(80, 16)
	near(t, "starts", e.Start, 4*10*time.Minute)
	near(t, "rest", e.Rest, 4*2*time.Minute)
	near(t, "levels", e.Levels, 4*(low+mid)+2*high)
	near(t, "saved", e.Saved, 2*high)
	near(t, "total", e.Total, e.Start+e.Levels+e.Rest)
	if e.Starts != 4 || e.Measurements != 10 || e.Skipped != 2 || e.Recorded != 0 || e.RecordedStarts != 0 {
		t.Errorf("%+v", e)
	}
}

// TestEstimateFromRecords: what was recorded wins; a configuration that never
// ran starts as long as the others did.
func TestEstimateFromRecords(t *testing.T) {
	plan := planOf(t, estimated, PlanOptions{})
	first := plan.Configurations[0].ID
	ready, window := 120.0, 30.0
	known := TimesOf([]Run{{ID: first, Records: []Record{{ReadySeconds: &ready}, {}}, Measurements: []bench.Measurement{
		{Key: plan.Levels[0].Key(), Window: window, Ended: bench.Complete},
		{Key: plan.Levels[1].Key(), Window: window, Ended: bench.Stalled}, // says nothing about the next time
	}}})
	want := map[string]Times{first: {Start: 2 * time.Minute, Levels: map[string]time.Duration{plan.Levels[0].Key(): 30 * time.Second}}}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Fatal(diff)
	}
	e := plan.Estimate(simple, known)
	near(t, "starts", e.Start, 4*2*time.Minute)
	if e.RecordedStarts != 4 || e.Recorded != 2 {
		t.Errorf("%+v", e)
	}
	near(t, "levels", e.Levels, plan.Estimate(simple, nil).Levels-2*(103200*time.Millisecond-30*time.Second))
}

// TestEstimateLeft: what is there already is not counted again; a run that is
// there whole is not started, one that is there in part is.
func TestEstimateLeft(t *testing.T) {
	plan := planOf(t, estimated, PlanOptions{})
	whole := plan.Estimate(simple, nil)
	keys := func(r PlannedRun) (keys []string) {
		for _, l := range plan.LevelsOf(r) {
			keys = append(keys, l.Key())
		}
		return keys
	}
	missing := make([][]string, len(plan.Runs))
	for i, r := range plan.Runs {
		missing[i] = keys(r)
	}
	if e := plan.EstimateLeft(simple, nil, missing); e.There != 0 || e.Total != whole.Total || e.Starts != 4 {
		t.Errorf("nothing is there: %+v", e)
	}
	missing[0], missing[1] = nil, missing[1][1:]
	e := plan.EstimateLeft(simple, nil, missing)
	first := 103200 * time.Millisecond // of ten prompts
	near(t, "there", e.There, whole.Runs[0]+first)
	near(t, "left", e.Total, whole.Total-e.There)
	near(t, "the run in part", e.Runs[1], whole.Runs[1]-first)
	sum := time.Duration(0)
	for _, run := range e.Runs {
		sum += run
	}
	near(t, "the sum of the runs", sum, e.Total)
	if e.Starts != 3 || e.Runs[0] != 0 || e.Measurements != whole.Measurements-len(keys(plan.Runs[0]))-1 || e.Skipped != whole.Skipped {
		t.Errorf("%+v", e)
	}
	if e := plan.EstimateLeft(simple, nil, make([][]string, len(plan.Runs))); e.Total != 0 || e.Starts != 0 || e.There != whole.Total {
		t.Errorf("all is there: %+v", e)
	}
}

// TestEstimateOfLevels: max-level ends a level, and what is in flight has its
// grace; rates keep their own time; texts are taken to be as long as they may.
func TestEstimateOfLevels(t *testing.T) {
	exact := bench.Workload{InputLen: 100, OutputLen: 100, RangeRatio: 1, Seed: 1}
	for name, c := range map[string]struct {
		level    bench.Level
		most     int
		maxLevel time.Duration
		want     time.Duration
	}{
		"cut":       {bench.Level{Mode: bench.Closed, Concurrency: 1, Prompts: 1000, Workload: exact}, 0, time.Minute, 90*time.Second + 3200*time.Millisecond},
		"burst":     {bench.Level{Mode: bench.Burst, Concurrency: 100, Prompts: 100, Workload: exact}, 0, time.Minute, 1000*time.Second + 320*time.Second},
		"last wave": {bench.Level{Mode: bench.Closed, Concurrency: 5, Prompts: 10, Workload: exact}, 0, time.Minute, 100*time.Second + 16*time.Second},
		"rate":      {bench.Level{Mode: bench.Open, Rate: 0.01, Prompts: 10, Workload: exact}, 0, 0, 1000*time.Second + 3200*time.Millisecond},
		"text":      {bench.Level{Mode: bench.Closed, Concurrency: 1, Prompts: 10, Workload: bench.Workload{Text: "x", OutputLen: 50}}, 0, 0, 50*time.Second + 3200*time.Millisecond},
		"many":      {bench.Level{Mode: bench.Closed, Concurrency: 1, Prompts: 100_000, Workload: bench.Workload{InputLen: 9, OutputLen: 99}}, 0, 0, 500_000*time.Second + 3200*time.Millisecond},
	} {
		took, _ := simple.level(c.level, c.most, c.maxLevel)
		near(t, name, took, c.want)
	}
	if got, _ := (Assumptions{}).level(bench.Level{Mode: bench.Closed, Concurrency: 1, Prompts: 1, Workload: exact}, 0, 0); got != 0 {
		t.Errorf("without assumptions %s", got)
	}
}

// TestOnlyIssuingIsCut: max-level stops the sending of requests, so a level that
// has sent all by then is not cut however long it takes; the worst case names its
// configuration, and a record that was cut says so again under the same limit.
func TestOnlyIssuingIsCut(t *testing.T) {
	plan := planOf(t, `name: cut
server: {command: [launch]}
matrix: {tp-size: [1, 2]}
bench:
  workloads: {w: {input-len: 100, output-len: 100, range-ratio: 1}}
  levels: [{concurrency: 1, prompts: 10}, {concurrency: 8, prompts: 16}, {burst: 64}, {concurrency: 9, prompts: 90}]
  max-level: 90s
`, PlanOptions{})
	cut := func(known map[string]Times) string {
		text := ""
		for _, c := range plan.Estimate(simple, known).Cut {
			text += fmt.Sprintf("%s %s in %d of %d;", c.Level, c.Whole, c.Runs, slices.IndexFunc(plan.Configurations, func(have Configuration) bool { return have.ID == c.Config }))
		}
		return text
	}
	if got := cut(nil); got != "c=9 15m0s in 2 of 0;" {
		t.Errorf("assumed: %s", got)
	}
	slow := plan.Configurations[1].ID
	measured := func(level int, window float64, maxLevel time.Duration, end bench.Ended) map[string]Times {
		return TimesOf([]Run{{ID: slow, Measurements: []bench.Measurement{{Key: plan.Levels[level].Key(), Window: window, MaxLevel: maxLevel, Ended: end}}}})
	}
	for name, c := range map[string]struct {
		known map[string]Times
		want  string
	}{
		"slower":            {measured(3, 2000, 0, bench.Complete), "c=9 33m20s in 2 of 1;"},
		"quicker":           {measured(3, 95, 90*time.Second, bench.Complete), "c=9 15m0s in 1 of 0;"},
		"cut":               {measured(1, 120, 90*time.Second, bench.AtMaxLevel), "c=8 2m0s in 1 of 1;c=9 15m0s in 2 of 0;"},
		"another max-level": {measured(1, 70, 60*time.Second, bench.AtMaxLevel), "c=9 15m0s in 2 of 0;"},
		"burst":             {measured(2, 5000, 90*time.Second, bench.Complete), "c=9 15m0s in 2 of 0;"},
	} {
		if got := cut(c.known); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestAssumedRate: between what is known on logarithmic scales, level outside.
func TestAssumedRate(t *testing.T) {
	a := Assumptions{Output: []AssumedRate{{1, 10}, {100, 1000}, {200, 1000}}}
	for concurrency, want := range map[int]float64{1: 10, 10: 100, 100: 1000, 150: 1000, 5000: 1000} {
		if got := a.rate(concurrency); got < want*0.999 || got > want*1.001 {
			t.Errorf("at %d: %v, want %v", concurrency, got, want)
		}
	}
}

// TestAssumptionsFor: a simulated server is not taken for eight real GPUs.
func TestAssumptionsFor(t *testing.T) {
	demo := planOf(t, sweepFile(t, "demo.yaml"), PlanOptions{})
	if e := demo.Estimate(AssumptionsFor(demo), nil); e.Total > 5*time.Minute {
		t.Errorf("the demo is taken to last %s", e.Total)
	}
	if a := AssumptionsFor(planOf(t, estimated, PlanOptions{})); a.Start != 8*time.Minute {
		t.Errorf("a start of %s", a.Start)
	}
}
