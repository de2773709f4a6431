package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

func rowNamed(t *testing.T, l Level, name string) Row {
	t.Helper()
	i := slices.IndexFunc(l.Rows, func(r Row) bool { return strings.Contains(r.Name, name) })
	if i < 0 {
		t.Fatalf("no row %q at %s", name, l.Name)
	}
	return l.Rows[i]
}

func TestInvalidIsNeverRanked(t *testing.T) {
	table := Build(badNight())
	burst := table.Levels[2]
	fast := rowNamed(t, burst, "mem-fraction-static=0.90")
	best := burst.Rows[0]
	if fast.Rank != 0 || fast.Verdict != "invalid" || fast.Delta != nil || *fast.Figures.Output.Median <= *best.Figures.Output.Median {
		t.Errorf("the fastest row is invalid and must not be ranked: %+v", fast)
	}
	if best.Rank != 1 || !best.Baseline {
		t.Errorf("best %+v", best)
	}
}

func TestAnInvalidRepeatStaysOut(t *testing.T) {
	table := Build(badNight())
	base := rowNamed(t, table.Levels[1], "baseline")
	if base.N != 1 || base.Planned != 2 || *base.Figures.Output.Median != 420 || base.Verdict != "suspect" || len(base.Notes) != 1 {
		t.Errorf("%+v", base)
	}
	note := table.Levels[1].Footnotes[base.Notes[0]-1]
	if note.Grade != "invalid" || !strings.Contains(note.Text, "left out of the figures: repeat 2") {
		t.Errorf("%+v", note)
	}
}

func TestMedianRangeAndDelta(t *testing.T) {
	table := Build(goodNight())
	if !slices.Equal(table.Marks, []string{"SIMULATED"}) || table.Baseline != "parallel=tp8,cuda-graph=off,model=GLM-5-NVFP4,p2p=sys" {
		t.Errorf("marks %v, baseline %v", table.Marks, table.Baseline)
	}
	r := rowNamed(t, table.Levels[0], "cuda-graph=bs256")
	f := r.Figures.Output
	if *f.Low != 50.2 || math.Abs(*f.High-50.8024) > 1e-9 || math.Abs(*f.Median-50.5012) > 1e-9 || f.N != 2 {
		t.Errorf("%v %v %v", *f.Low, *f.Median, *f.High)
	}
	if d := r.Delta; d == nil || math.Abs(d.Percent-(50.2/10.3-1)*100) > 1e-9 || d.N != 2 || d.BaselineN != 2 || d.Overlap {
		t.Errorf("%+v", d)
	}
	if base := rowNamed(t, table.Levels[0], "baseline"); base.Delta != nil || !base.Baseline {
		t.Errorf("%+v", base)
	}
}

// A best configuration is claimed only where it is told from the next.

// A tie far above the baseline says so, of all that share the place.

// A night and its own reuse are no two measurements.

// Goodput under other limits is named and never set beside.

// An attempt that was stopped is no failure of the server.

// Where max-level ended a level its steady state is what counts.

// Short levels are mostly ramp-up and drain.

func TestHostsAreNeverMerged(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	n.plan.Configurations[0].Baseline = true
	for o := 1; o <= 4; o++ {
		run := n.add(o, false, measure(levels[0], float64(10*o)))
		if o > 2 {
			run.Records[0].Fingerprint.Host.Driver = "600.1"
			n.runs[o] = *run
		}
	}
	table := Build(n.input("x"))
	if len(table.Hosts) != 2 || len(table.Levels[0].Rows) != 4 || len(table.Warnings) != 1 || !strings.Contains(table.Warnings[0], "driver 595.58.03 against 600.1") {
		t.Errorf("hosts %v, warnings %v, %d rows", table.Hosts, table.Warnings, len(table.Levels[0].Rows))
	}
	for _, r := range table.Levels[0].Rows {
		if r.N != 1 || !strings.Contains(r.Name, "(host ") {
			t.Errorf("%+v", r)
		}
	}
	// Each c2 is compared with the c1 of its own host.
	if d := rowNamed(t, table.Levels[0], "x=2 (host 1)").Delta; d == nil || d.Hosts || math.Abs(d.Percent-100) > 1e-9 {
		t.Errorf("host 1: %+v", d)
	}
	if d := rowNamed(t, table.Levels[0], "x=2 (host 2)").Delta; d == nil || d.Hosts || math.Abs(d.Percent-100.0/3) > 1e-9 {
		t.Errorf("host 2: %+v", d)
	}
}

func TestC30AnotherToolIsAnotherLevel(t *testing.T) {
	other := measure(levels[0], 20)
	other.Key, other.Tool, other.ToolVersion = "imported", "bench_serving", "0.5.6"
	a, b := newRun(labelled("c1", "x", "1"), 1, false, measure(levels[0], 10)), newRun(labelled("c1", "x", "1"), 2, false, other)
	findings := []verdict.Finding{{Code: "imported", Grade: verdict.Note, Run: b.Name}}
	table := Build(ForRuns("compare", []Side{{"A", []sweep.Run{a}}, {"B", []sweep.Run{b}}}, findings))
	if len(table.Levels) != 2 || !strings.Contains(table.Levels[0].Heading, "measured by native 1") || !strings.Contains(table.Levels[1].Heading, "bench_serving 0.5.6") {
		t.Fatalf("%+v", table.Levels)
	}
	for _, l := range table.Levels {
		for _, r := range l.Rows {
			if r.Delta != nil {
				t.Errorf("compared across tools: %+v", r)
			}
		}
	}
	if !slices.Equal(table.Levels[1].Marks, []string{"IMPORTED"}) || len(table.Marks) != 0 || len(table.Warnings) == 0 {
		t.Errorf("marks %v and %v, warnings %v", table.Levels[1].Marks, table.Marks, table.Warnings)
	}
}

func TestCompareSidesByConfiguration(t *testing.T) {
	c1, c2, c3 := labelled("c1", "x", "1"), labelled("c2", "x", "2"), labelled("c3", "x", "3")
	a := Side{"night one", []sweep.Run{newRun(c1, 1, true, measure(levels[0], 10)), newRun(c2, 1, true, measure(levels[0], 20))}}
	again := newRun(c1, 2, true, measure(levels[0], 11))
	b := Side{"night two", []sweep.Run{again, newRun(c3, 2, true, measure(levels[0], 33))}}
	table := Build(ForRuns("compare", []Side{a, b}, nil))
	l := table.Levels[0]
	if d := rowNamed(t, l, "B: x=1").Delta; d == nil || math.Abs(d.Percent-10) > 1e-9 {
		t.Errorf("%+v", d)
	}
	if r := rowNamed(t, l, "B: x=3"); r.Delta != nil {
		t.Errorf("compared with nothing of its kind: %+v", r.Delta)
	}
	if len(table.Warnings) != 1 || !strings.Contains(table.Warnings[0], "no counterpart") || len(table.Sides) != 2 {
		t.Errorf("%v %v", table.Warnings, table.Sides)
	}
	// One configuration against one other: those two.
	one := Build(ForRuns("compare", []Side{{"A", a.Runs[:1]}, {"B", b.Runs[1:]}}, nil))
	if d := rowNamed(t, one.Levels[0], "B: x=3").Delta; d == nil || math.Abs(d.Percent-230) > 1e-9 {
		t.Errorf("%+v", d)
	}
}

func TestMixedSimulatedRowsAreMarked(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	n.add(1, true, measure(levels[0], 10))
	n.add(2, false, measure(levels[0], 11))
	table := Build(n.input("x"))
	if len(table.Marks) != 0 || len(table.Levels[0].Marks) != 0 {
		t.Errorf("marked as a whole: %v %v", table.Marks, table.Levels[0].Marks)
	}
	if out := write(t, table, TextOptions{Width: 100}); strings.Count(out, "[SIMULATED]") == 0 {
		t.Error(out)
	}
}

func TestJSONIsExactAndWhole(t *testing.T) {
	m := measure(levels[0], 10.123456789)
	m.TTFT.P99, m.E2E.P50 = ptr(math.NaN()), nil
	table := Build(ForRuns("run", []Side{{"A", []sweep.Run{newRun(labelled("c1", "x", "1"), 1, true, m)}}}, nil))
	var b bytes.Buffer
	if err := table.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Table
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	f := back.Levels[0].Rows[0].Figures
	if back.Schema != sweep.Schema || *f.Output.Median != 10.123456789 || f.TTFTp99.Median != nil || f.E2Ep50.Median != nil {
		t.Errorf("%+v", f)
	}
	if bytes.Contains(b.Bytes(), []byte(`"warnings": null`)) {
		t.Error("a list that is empty is written as not known")
	}
}
