package report

import (
	"strings"
	"testing"
	"time"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

func TestGoodputUnderOtherLimitsIsNotMixed(t *testing.T) {
	strict, loose := bench.SLO{TTFT: 100 * time.Millisecond, TPOT: 20 * time.Millisecond}, bench.SLO{TTFT: 2 * time.Second}
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	for o, slo := range []bench.SLO{strict, loose, loose, {}} { // repeats of c1: strict, loose; of c2: loose, none
		n.add(o+1, true, within(slo, measure(levels[0], 10), 0.5))
	}
	table := Build(n.input("x"))
	l := table.Levels[0]
	if table.Goodput != "TTFT ≤ 100 ms and TPOT ≤ 20 ms" {
		t.Error(table.Goodput)
	}
	if f := rowNamed(t, l, "x=1").Figures; f.Goodput.N != 1 || f.Output.N != 2 || *f.GoodputShare.Median != 0.5 {
		t.Errorf("%+v", f)
	}
	if f := rowNamed(t, l, "x=2").Figures; f.Goodput.Median != nil || f.GoodputShare.N != 0 {
		t.Errorf("%+v", f)
	}
	var texts []string
	for _, f := range l.Footnotes {
		texts = append(texts, f.Text)
	}
	if got := strings.Join(texts, "\n"); got != "not shown, it was counted with TTFT ≤ 2 s (run 20261201T221502.000-c1-2)\n"+
		"not shown, it was counted with TTFT ≤ 2 s (run 20261201T221501.000-c2-1)\n"+
		"not shown, it was not counted: no limits were set (run 20261201T221502.000-c2-2)" {
		t.Error(got)
	}
}

func TestMaxLevelShowsSteadyState(t *testing.T) {
	m := measure(levels[1], 400)
	m.Ended, m.Steady = bench.AtMaxLevel, &bench.Steady{Seconds: 60, OutputThroughput: ptr(410.0)}
	table := Build(ForRuns("x", []Side{{"A", []sweep.Run{newRun(labelled("c1", "x", "1"), 1, false, m)}}}, nil))
	l := table.Levels[0]
	if f := l.Rows[0].Figures; *f.Output.Median != 410 || *f.Whole.Median != 400 {
		t.Errorf("%+v", f)
	}
	if len(l.Footnotes) != 1 || !strings.Contains(l.Footnotes[0].Text, "row 1: 410.0 over 60.00 s, the figure shown since max-level ended the level, whole window 400.0 over") {
		t.Errorf("%+v", l.Footnotes)
	}
	if s := table.legend(); !strings.Contains(s, "in steady state") {
		t.Error(s)
	}
}

func TestSteadyStateIsNamedWhereItIsAnotherFigure(t *testing.T) {
	for steady, want := range map[float64]string{109: "", 91: "", 111: "row 1: 111.0 over 2.50 s, whole window 100.0 over 10.24 s", 89: "row 1: 89.00 over"} {
		m := measure(levels[0], 100)
		m.Steady = &bench.Steady{Seconds: 2.5, OutputThroughput: ptr(steady)}
		notes := Build(ForRuns("x", []Side{{"A", []sweep.Run{newRun(labelled("c1", "x", "1"), 1, false, m)}}}, nil)).Levels[0].Footnotes
		if want == "" && len(notes) > 0 || want != "" && (len(notes) != 1 || !strings.Contains(notes[0].Text, want)) {
			t.Errorf("%v: %+v", steady, notes)
		}
	}
}
