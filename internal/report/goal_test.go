package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sweep/internal/bench"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// goalMetrics are all that a sweep file may name; its reader refuses others.
var goalMetrics = []string{"per_stream", "output_throughput", "input_throughput", "total_throughput", "peak_output_throughput",
	"request_throughput", "goodput", "goodput_share"}

func TestEveryGoalMetricHasAFigure(t *testing.T) {
	names := slices.Clone(goalMetrics)
	for _, latency := range []string{"ttft", "tpot", "itl", "e2e"} {
		for _, of := range []string{"p50", "p90", "p95", "p99", "mean", "max"} {
			names = append(names, latency+"_"+of)
		}
	}
	m := within(bench.SLO{TTFT: time.Second}, measure(levels[1], 400), 0.5)
	seen := map[float64]string{}
	for _, name := range names {
		v := metricOf(name).get(m)
		if v == nil {
			t.Errorf("%s has no figure", name)
			continue
		}
		if strings.HasPrefix(name, "itl") { // of this fixture the same as tpot
			continue
		}
		if other, ok := seen[*v]; ok {
			t.Errorf("%s is the figure of %s", name, other)
		}
		seen[*v] = name
	}
	for _, unknown := range []string{"", "ttft", "tps", "ttft_p42"} {
		if v := metricOf(unknown).get(m); v != nil {
			t.Errorf("%q is %v", unknown, *v)
		}
	}
}

func TestGoalIsJudged(t *testing.T) {
	for _, c := range []struct {
		value    float64
		min, max *float64
		want     string
	}{
		{100, ptr(100.0), nil, "met"}, {100, nil, ptr(100.0), "met"},
		{75, ptr(100.0), nil, "missed by 25.0 %"}, {150, nil, ptr(100.0), "missed by 50.0 %"},
		{99.99, ptr(100.0), nil, "missed by < 0.1 %"}, {5000, nil, ptr(100.0), "missed by 4,900 %"},
		{5, ptr(10.0), ptr(20.0), "missed by 50.0 %"}, {30, ptr(10.0), ptr(20.0), "missed by 50.0 %"}, {15, ptr(10.0), ptr(20.0), "met"},
		{1, nil, ptr(0.0), "missed"}, {0, nil, ptr(0.0), "met"}, {0, ptr(0.0), nil, "met"},
	} {
		r := GoalRow{Figure: Figure{Median: &c.value, N: 1}}
		r.judge(sweep.Goal{Min: c.min, Max: c.max})
		if got := goalVerdict(r); got != c.want {
			t.Errorf("%v: %s, want %s", c.value, got, c.want)
		}
	}
}

// What is not measured, or not validly, neither meets nor misses a goal.
func TestGoalsOfABadNight(t *testing.T) {
	table := Build(badNight())
	var got []string
	for _, r := range table.Goals[1].Rows {
		got = append(got, strings.TrimSpace(goalVerdict(r)+" "+r.Name+" · "+r.Reason))
		if (r.Met == nil) != (r.Figure.Median == nil) || (r.Met == nil) != (r.Reason != "") {
			t.Errorf("%+v", r)
		}
	}
	want := []string{
		"met baseline · ",
		"n/a mem-fraction-static=0.90 · invalid, requests-failed",
		"n/a mem-fraction-static=0.97 · failed: kv-too-small (kv-cache)",
		"n/a parallel=tp4-pp2 · invalid, failed: illegal-memory-access",
		"n/a parallel=tp4-pp2,mem-fraction-static=0.90 · the run was interrupted",
		"n/a parallel=tp4-pp2-with-a-very-long-label-that-nobody-wants-to-type,mem-fraction-static=0.97 · the night was interrupted before it was reached",
	}
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var js bytes.Buffer
	if err := table.JSON(&js); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Goals []struct {
			Rows []struct {
				Met    *bool
				Figure Figure
			}
		}
	}
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || len(back.Goals) != 2 || back.Goals[1].Rows[0].Met == nil || back.Goals[1].Rows[1].Met != nil {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestBestComesFirstUnderAGoal(t *testing.T) {
	table := Build(goodNight())
	for _, g := range table.Goals {
		for i := 1; i < len(g.Rows); i++ {
			x, y := *g.Rows[i-1].Figure.Median, *g.Rows[i].Figure.Median
			if g.Unit == "ms" && x > y || g.Unit != "ms" && x < y {
				t.Errorf("%s: %v before %v", g.Text, x, y)
			}
		}
	}
}

// A server that failed before it could say so is still a simulated one.
func TestFailedSimulatorIsCalledSo(t *testing.T) {
	config := labelled("c1", "x", "1")
	config.Command = []string{"/opt/bin/sweep", "sim"}
	cause := sglang.Cause{Code: "kv-too-small", Class: sglang.Config, Phase: sglang.PhaseKV}
	for name, c := range map[string]struct {
		command   []string
		simulated bool
		want      bool
	}{"command": {config.Command, false, true}, "record": {labelled("c1").Command, true, true}, "neither": {labelled("c1").Command, false, false}} {
		config.Command = c.command
		n := newNight(config, labelled("c2", "x", "2"))
		for o := 1; o <= 2; o++ {
			run := failedAs(*n.add(o, c.simulated), cause, "exit 1", "")
			if !c.simulated {
				run.Records[0].Fingerprint.Server = nil
			}
			n.runs[o] = run
		}
		if out := write(t, Build(n.input("x")), TextOptions{Width: 80}); strings.Contains(out, "SIMULATED: ") != c.want {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// Where the baseline is best, the next one has a name.
func TestNextIsNamed(t *testing.T) {
	n := newNight(labelled("c1", "x", "1", "y", "a"), labelled("c2", "x", "2", "y", "b"))
	n.plan.Configurations[0].Baseline = true
	n.add(1, true, measure(levels[0], 100))
	n.add(2, true, measure(levels[0], 90))
	if s := Build(n.input("x")).Closing[0]; !strings.Contains(s, "; next x=2,y=b -10.0 % (n = 1/1)") {
		t.Error(s)
	}
}
