package report

import (
	"bytes"
	"strings"
	"testing"

	"sweep/internal/sweep"
)

func TestTheSameRunsAreNoReproduction(t *testing.T) {
	c1, c2 := labelled("c1", "x", "1"), labelled("c2", "x", "2")
	one, two := newRun(c1, 1, true, measure(levels[0], 10)), newRun(c2, 2, true, measure(levels[0], 20))
	again := newRun(c2, 3, true, measure(levels[0], 21))
	table := Build(ForRuns("compare", []Side{{"night one", []sweep.Run{one, two}}, {"night two", []sweep.Run{one, two, again}}}, nil))
	l := table.Levels[0]
	if r := rowNamed(t, l, "B: x=1"); r.Delta != nil || !r.SameRuns {
		t.Errorf("%+v", r)
	}
	if r := rowNamed(t, l, "B: x=2"); r.Delta == nil || r.Delta.Shared != 1 || r.SameRuns {
		t.Errorf("%+v", r)
	}
	if w := strings.Join(table.Warnings, "; "); w != "B: x=2 at c=1 has 1 run in common with what it is compared with: its Δ is no reproduction" {
		t.Error(w)
	}
	var md bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if out := write(t, table, TextOptions{Width: 80}); !strings.Contains(out, "B: x=1 · same runs") || strings.Contains(out, "±0.0") || !strings.Contains(md.String(), "| same runs |") {
		t.Errorf("%s\n%s", out, md.String())
	}
	whole := Build(ForRuns("compare", []Side{{"one", []sweep.Run{one}}, {"two", []sweep.Run{one}}}, nil))
	if s := whole.Closing[0]; !strings.HasSuffix(s, "10.00 output tok/s (same runs, n = 1/1)") || len(whole.Warnings) > 0 {
		t.Errorf("%s, %v", s, whole.Warnings)
	}
}

func TestANightSaysWhatItReused(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	for o := 1; o <= 3; o++ {
		run := n.add(o, true, measure(levels[0], 10))
		if o == 3 { // begun elsewhere, completed here
			second := run.Records[0]
			second.Sweep, second.Attempt = "tonight", 2
			run.Records = append(run.Records, second)
		}
		n.runs[o] = *run
	}
	for night, want := range map[string]string{
		"tonight":              "2 of 3 runs, 1 begun and completed here; measured in night 20261201-221500-glm5",
		"20261201-221500-glm5": "1 begun and completed here; measured in night tonight",
		"":                     "",
	} {
		in := n.input("x")
		in.Night = night
		if got := Build(in).Reused; got != want {
			t.Errorf("%s: %q", night, got)
		}
	}
}
