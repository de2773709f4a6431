package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sweep"
)

func narrowed(t *testing.T, in Input, only ...string) Table {
	t.Helper()
	in, err := in.Narrow(only)
	if err != nil {
		t.Fatal(err)
	}
	return Build(in)
}

// TestNarrow: only what is named is shown, it is said in every form, and the
// figures are those of the whole night.
func TestNarrow(t *testing.T) {
	whole := Build(goodNight())
	table := narrowed(t, goodNight(), "parallel=tp8")
	for i, l := range table.Levels {
		if len(l.Rows) != 2 {
			t.Errorf("%s has %d rows", l.Name, len(l.Rows))
		}
		for _, r := range l.Rows {
			full := rowNamed(t, whole.Levels[i], r.Name)
			if diff := cmp.Diff(full.Figures, r.Figures); diff != "" || full.ID != r.ID || full.Verdict != r.Verdict {
				t.Errorf("%s at %s: %s", r.Name, l.Name, diff)
			}
			if d := full.Delta; d != nil && r.Delta.Percent != d.Percent {
				t.Errorf("%s at %s: %+v, %+v", r.Name, l.Name, d, r.Delta)
			}
		}
	}
	var md, js bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := table.JSON(&js); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Selection Selection }
	if err := json.Unmarshal(js.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	left := []string{"parallel=tp4-pp2,cuda-graph=off,model=GLM-5-NVFP4,p2p=sys", "parallel=tp4-pp2,cuda-graph=bs256,model=GLM-5-NVFP4,p2p=sys"}
	if diff := cmp.Diff(Selection{Only: []string{"parallel=tp8"}, Shown: 2, Of: 4, LeftOut: left}, doc.Selection); diff != "" {
		t.Error(diff)
	}
	want := "2 of 4 configurations, by --only parallel=tp8; left out: parallel=tp4-pp2, cuda-graph=off, model=GLM-5-NVFP4, p2p=sys · parallel=tp4-pp2, cuda-graph=bs256"
	for form, out := range map[string]string{"text": strings.Join(strings.Fields(write(t, table, TextOptions{Width: 80})), " "), "markdown": md.String()} {
		if !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", form, want, out)
		}
	}
	if whole.Only != nil || strings.Contains(write(t, whole, TextOptions{Width: 80}), "left out") {
		t.Error("a whole night says that something is left out")
	}
}

// TestNarrowWithoutTheBaseline: the first that is left stands in, and that is
// said.
func TestNarrowWithoutTheBaseline(t *testing.T) {
	table := narrowed(t, goodNight(), "parallel=tp4-pp2")
	if !strings.Contains(table.Baseline, "cuda-graph=off") || !rowNamed(t, table.Levels[0], "baseline").Baseline {
		t.Errorf("baseline %q", table.Baseline)
	}
	if r := rowNamed(t, table.Levels[0], "cuda-graph=bs256"); r.Delta == nil || r.Delta.Percent < 390 || r.Delta.Percent > 410 {
		t.Errorf("%+v", r.Delta)
	}
	if !slices.Contains(table.Warnings, "--only leaves the baseline out: parallel=tp4-pp2,cuda-graph=off,model=GLM-5-NVFP4,p2p=sys stands in for it") {
		t.Errorf("warnings %q", table.Warnings)
	}
}

// TestNarrowLeavesOutTheRest: failures, gaps and findings of what is left out
// are left out too, those of the rest stay.
func TestNarrowLeavesOutTheRest(t *testing.T) {
	in := badNight()
	whole := Build(badNight())
	for _, s := range in.Subjects {
		table := narrowed(t, badNight(), s.Config.Name)
		for _, l := range table.Levels {
			for _, r := range l.Rows {
				if r.ID != s.Config.ID {
					t.Errorf("--only %s shows %s", s.Config.Name, r.Full)
				}
			}
		}
		if len(table.Failures) > len(whole.Failures) || table.Only.Shown != 1 || table.Only.Of != len(in.Subjects) {
			t.Errorf("--only %s: %d failures, %+v", s.Config.Name, len(table.Failures), table.Only)
		}
	}
}

// TestNarrowNothing: what names nothing is an error.
func TestNarrowNothing(t *testing.T) {
	for only, want := range map[string]string{
		"parallel=tp9": `--only "parallel=tp9": "tp9" is no value of the axis "parallel" (did you mean "tp8"?)`,
		"x":            `--only "x": no configuration has this name (write axis=label (the axes are parallel, cuda-graph, model, p2p))`,
	} {
		if _, err := goodNight().Narrow([]string{only}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", only, err)
		}
	}
}

// TestNarrowSides: each side keeps what is named; one that keeps nothing is an
// error that names it.
func TestNarrowSides(t *testing.T) {
	c1, c2 := labelled("c1", "x", "1"), labelled("c2", "x", "2")
	run := func(c sweep.Configuration, driver string) sweep.Run {
		r := newRun(c, 1, false, measure(levels[0], 10))
		r.Name = driver + r.Name
		return r
	}
	sides := []Side{{"night one", []sweep.Run{run(c1, "a"), run(c2, "a")}}, {"night two", []sweep.Run{run(c1, "b")}}}
	got, selection, err := NarrowSides(sides, []string{"x=1"})
	if err != nil || len(got[0].Runs) != 1 || len(got[1].Runs) != 1 || got[0].Runs[0].ID != "c1" {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(&Selection{Only: []string{"x=1"}, Shown: 1, Of: 2, LeftOut: []string{"x=2"}}, selection); diff != "" {
		t.Error(diff)
	}
	if _, _, err := NarrowSides(sides, []string{"x=2"}); err == nil || err.Error() != "--only x=2 leaves nothing of night two (name what all sides have, or leave that side away)" {
		t.Errorf("got %v", err)
	}
	if same, none, err := NarrowSides(sides, nil); err != nil || none != nil || len(same[0].Runs) != 2 {
		t.Errorf("without patterns: %+v, %v, %v", same, none, err)
	}
}

// TestSelectionOfMany: a line does not name hundreds.
func TestSelectionOfMany(t *testing.T) {
	s := Selection{Only: []string{"a=1", "b"}, Shown: 1, Of: 13}
	for i := range 12 {
		s.LeftOut = append(s.LeftOut, fmt.Sprint("n", i))
	}
	if got, want := s.String(), "1 of 13 configurations, by --only a=1 --only b; left out: n0 · n1 · n2 · n3 · n4 · n5 · n6 · n7 · 4 more"; got != want {
		t.Errorf("got %s", got)
	}
	all := Selection{Only: []string{"a=*"}, Shown: 2, Of: 2}
	if got, want := all.String(), "all 2 configurations: --only a=* leaves none out"; got != want {
		t.Errorf("got %s", got)
	}
}
