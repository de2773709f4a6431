package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sweep/internal/sweep"
)

func TestOneRepeatIsNoClaim(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	n.plan.Configurations[0].Baseline = true
	n.plan.Runs = n.plan.Runs[:2]
	n.add(1, true, measure(levels[0], 10))
	n.add(2, true, measure(levels[0], 10.3))
	table := Build(n.input("x"))
	if s := table.Closing[0]; !strings.Contains(s, "best: x=2, 10.30 output tok/s, +3.0 % to the baseline (n = 1/1)") {
		t.Error(s)
	}
	if want := []string{"Where an n is 1 there is no interval: a difference may be noise."}; !slices.Equal(table.Cautions, want) {
		t.Errorf("%q", table.Cautions)
	}
}

func TestOverlappingRangesAreNoDifference(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	n.plan.Configurations[0].Baseline = true
	for o, v := range []float64{10, 10.1, 10.3, 10.4} { // c1: 10, 10.3; c2: 10.1, 10.4
		n.add(o+1, true, measure(levels[0], v))
	}
	table := Build(n.input("x"))
	if s := table.Closing[0]; s != "c=1 (SIMULATED), no difference shown: x=2 | baseline, 10.15–10.25 output tok/s (within 2 %, n = 2/2)" {
		t.Error(s)
	}
	if len(table.Cautions) > 0 {
		t.Errorf("%q", table.Cautions)
	}
	var md bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	out := write(t, table, TextOptions{Width: 80})
	for _, c := range []struct{ text, want string }{{out, "+1.0~"}, {out, "~ no difference shown: within 2 % or ranges overlap"},
		{md.String(), `| +1.0 % \~ |`}, {md.String(), `\~ no difference shown`}} {
		if !strings.Contains(strings.Join(strings.Fields(c.text), " "), c.want) {
			t.Errorf("no %q in\n%s", c.want, c.text)
		}
	}
}

func TestBestIsClaimedOnlyWhereItShows(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []float64 // repeats of the baseline and of the other
		want          string
	}{
		"noise":            {[]float64{10}, []float64{10.005}, "no difference shown: x=2 | baseline, 10.00–10.01 output tok/s (within 2 %, n = 1/1)"},
		"at the threshold": {[]float64{100}, []float64{102}, "no difference shown: x=2 | baseline, 100.0–102.0 output tok/s (within 2 %, n = 1/1)"},
		"beyond it":        {[]float64{100}, []float64{102.1}, "best: x=2, 102.1 output tok/s, +2.1 %"},
		"the same below":   {[]float64{102.1}, []float64{100}, "best: baseline, 102.1 output tok/s (n = 1); next x=2 -2.1 % (n = 1/1)"},
		"ranges overlap":   {[]float64{100, 110}, []float64{106, 130}, "no difference shown: x=2 | baseline, 105.0–118.0 output tok/s (ranges overlap, n = 2/2)"},
		"one in a range":   {[]float64{100, 120}, []float64{119}, "no difference shown: x=2 | baseline, 110.0–119.0 output tok/s (ranges overlap, n = 1/2)"},
		"ranges apart":     {[]float64{100, 104}, []float64{105, 106}, "best: x=2, 105.5 output tok/s, +3.4 %"},
		"nothing else":     {[]float64{100}, nil, "only: baseline, 100.0 output tok/s (n = 1)"},
		"nothing at all":   {nil, nil, "nothing that could be ranked"},
	} {
		n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
		n.plan.Configurations[0].Baseline = true
		for side, values := range [][]float64{c.first, c.second} {
			for repeat, v := range values {
				n.add(1+side+2*repeat, false, measure(levels[0], v))
			}
			if len(values) == 0 { // it was measured, and nothing came
				gone := measure(levels[0], 1)
				gone.Completed, gone.Failed = 0, gone.Issued
				n.add(1+side, false, gone)
			}
		}
		if s := Build(n.input("x")).Closing[0]; !strings.HasPrefix(s, "c=1, "+c.want) {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func TestATieKeepsItsDistanceFromTheBaseline(t *testing.T) {
	configs := []sweep.Configuration{}
	for i := range 7 {
		configs = append(configs, labelled(fmt.Sprint("c", i), "x", fmt.Sprint(i)))
	}
	n := newNight(configs...)
	n.plan.Configurations[0].Baseline = true
	for i := range configs {
		n.add(i+1, false, measure(levels[0], []float64{50, 100, 100.1, 100.2, 100.3, 100.4, 90}[i]))
	}
	table := Build(n.input("x"))
	if s := table.Closing[0]; s != "c=1, no difference shown: x=5 | x=4 | x=3 | x=2 | 1 more, 100.0–100.4 output tok/s (within 2 %, n = 1 each); +100.0 to +100.8 % (n = 1/1 each) to the baseline" {
		t.Error(s)
	}
	for _, r := range table.Levels[0].Rows {
		if want := r.Rank <= 5; r.Tied != want {
			t.Errorf("%s is tied: %v", r.Name, r.Tied)
		}
	}
}
