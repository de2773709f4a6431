package report

import (
	"bytes"
	"strings"
	"testing"

	"sweep/internal/sweep"
)

// refusedNight has a configuration whose server serves and refuses every
// request, and one that leaves a level out above its cap.
func refusedNight() (*night, sweep.Run) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"), labelled("c3", "x", "3"))
	n.plan.Configurations[0].Baseline = true
	n.plan.Goals = []sweep.Goal{{Metric: "per_stream", Levels: []string{levels[1].Key()}, Min: ptr(5.0)}}
	for o := 1; o <= 6; o++ {
		if o%3 != 2 {
			n.add(o, false, measure(levels[0], 10), measure(levels[1], 400), measure(levels[2], 700))
			continue
		}
		run := n.add(o, false)
		for i, l := range levels {
			run.Records[0].Unmeasured = append(run.Records[0].Unmeasured, sweep.Unmeasured{Key: l.Key(),
				Reason: "no measurement; it said: The input (4" + string(rune('0'+i)) + " tokens) is longer than the model's context length (10 tokens)"})
		}
		n.runs[o] = *run
	}
	for _, o := range []int{3, 6} {
		run := n.runs[o]
		run.Measurements = run.Measurements[:2]
		n.runs[o] = run
		n.plan.Runs[o-1].Skip = []sweep.Skipped{{Key: levels[2].Key(), Name: levels[2].String(), Why: "above the cap of 64 running requests; c=64 stands for it"}}
	}
	return n, n.runs[2]
}

// TestRefusedLevelsSayWhy: the reason and the log are in the report, once, and a
// level left out on purpose reads otherwise than one that went wrong.
func TestRefusedLevelsSayWhy(t *testing.T) {
	n, run := refusedNight()
	table := Build(n.input("x"))
	if len(table.Failures) != 1 {
		t.Fatalf("%+v", table.Failures)
	}
	f := table.Failures[0]
	if f.Name != "x=2" || f.Cause != "not-measured" || f.Level != "c=1, c=64, burst=256" || len(f.Where) != 2 || len(f.Logs) != 6 || !strings.Contains(f.Line, "longer than the model's context length") ||
		f.Logs[0] != "runs/c2/"+run.Name+"/attempt-1/levels/"+levels[0].Key()+"/bench.log" {
		t.Errorf("%+v", f)
	}
	if f.Hint != "raise context-length to at least input + output (384 tokens), or shorten the workload" {
		t.Errorf("hint %q", f.Hint)
	}
	refused, left := rowNamed(t, table.Levels[2], "x=2"), rowNamed(t, table.Levels[2], "x=3")
	if !refused.Failed || refused.Reason != "could not be measured, see Failures" || left.Failed ||
		left.Reason != "left out on purpose: above the cap of 64 running requests; c=64 stands for it" {
		t.Errorf("refused %+v\nleft out %+v", refused, left)
	}
	var md bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"text": write(t, table, TextOptions{Width: 100}), "markdown": md.String()} {
		if n := strings.Count(out, "longer than the model's context length"); n != 1 {
			t.Errorf("%s says the reason %d times:\n%s", name, n, out)
		}
		if strings.Contains(out, "it was not measured") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestShowOfARefusedRun: show says for each level why, and where the log is.
func TestShowOfARefusedRun(t *testing.T) {
	_, run := refusedNight()
	var b bytes.Buffer
	if err := RunText(&b, run, nil, TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"attempt 1: done, but 3 levels could not be measured", "No level was measured; why stands above.",
		"c=64 could not be measured: no measurement; it said: The input (41 tokens) is longer",
		"log  runs/c2/" + run.Name + "/attempt-1/levels/" + levels[1].Key() + "/bench.log"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestRowsAreChanges: rows are called by what they change of the baseline, whose
// full name and what hand-written names stand for are said once, in all forms.
func TestRowsAreChanges(t *testing.T) {
	in := tiedNight()
	table := Build(in)
	if table.Baseline != "cuda-graph=on,max-running-requests=32" {
		t.Error(table.Baseline)
	}
	for name, full := range map[string]string{"baseline": "cuda-graph=on,max-running-requests=32", "max-running-requests=8": "cuda-graph=on,max-running-requests=8",
		"cuda-graph=off": "cuda-graph=off,max-running-requests=32", "small-prefill": "small-prefill"} {
		if r := rowNamed(t, table.Levels[0], name); r.Full != full {
			t.Errorf("%s is %s", name, r.Full)
		}
	}
	var md bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"text": write(t, table, TextOptions{Width: 80}), "markdown": strings.ReplaceAll(md.String(), ",", ", ")} {
		if strings.Count(out, "cuda-graph=on, max-running-requests=32") != 1 || strings.Count(out, "small-prefill = baseline") != 1 {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestInvalidNightsAreListedAsSuch: a night of invalid levels does not read as
// one that went well.
func TestInvalidNightsAreListedAsSuch(t *testing.T) {
	var b bytes.Buffer
	nights := []NightLine{{ID: "a", Planned: 2, Done: 2, State: "finished"}, {ID: "b", Planned: 2, Invalid: 2, State: "finished"}}
	if err := List(&b, nights, TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if !strings.HasSuffix(strings.Join(strings.Fields(lines[0]), " "), "runs done failed invalid state") ||
		!strings.HasSuffix(strings.Join(strings.Fields(lines[2]), " "), "2 0 0 2 finished") {
		t.Error(b.String())
	}
}

// TestListNamesFailures: a night with failures says what failed and why, the
// first few.
func TestListNamesFailures(t *testing.T) {
	var b bytes.Buffer
	nights := []NightLine{{ID: "a", Planned: 5, Failed: 5, State: "finished, with failures", Failures: []string{"p2p=phb: cuda-oom", "b: x", "c: x", "d: x", "e: x"}}}
	if err := List(&b, nights, TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "    failed: p2p=phb: cuda-oom · b: x · c: x · 2 more\n") || !strings.Contains(b.String(), "finished, with failures") {
		t.Error(b.String())
	}
}

// TestPathsBreakAtSlashes: a path that is wider than its line is cut between
// directories.
func TestPathsBreakAtSlashes(t *testing.T) {
	got := wrap("runs/c24664a2c2e/20261201T121843.513-2f49/bench.log", 34)
	want := []string{"runs/c24664a2c2e/", "20261201T121843.513-2f49/bench.log"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
}
