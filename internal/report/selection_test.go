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

// TestNarrowWithoutTheBaseline: a baseline that is left out has no row and is
// compared with all the same, which every form says; without figures of it
// nothing is compared.
func TestNarrowWithoutTheBaseline(t *testing.T) {
	table := narrowed(t, goodNight(), "parallel=tp4-pp2")
	whole := Build(goodNight())
	if table.Baseline != whole.Baseline || len(table.Levels[0].Rows) != 2 {
		t.Errorf("baseline %q, %d rows", table.Baseline, len(table.Levels[0].Rows))
	}
	for k, r := range table.Levels[0].Rows {
		full := whole.Levels[0].Rows[slices.IndexFunc(whole.Levels[0].Rows, func(w Row) bool { return w.ID == r.ID })]
		if r.Baseline || r.Rank != k+1 || (r.Delta == nil) != (full.Delta == nil) || r.Delta != nil && r.Delta.Percent != full.Delta.Percent {
			t.Errorf("%d. %s: rank %d, Δ %+v, of the whole night %+v", k+1, r.Name, r.Rank, r.Delta, full.Delta)
		}
	}
	const says = "--only leaves the baseline out: it has no row, and each Δ is still to it"
	var md bytes.Buffer
	if err := table.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(write(t, table, TextOptions{Width: 80})), " "); !strings.Contains(text, says) || !strings.Contains(md.String(), says) {
		t.Errorf("not said:\n%s\n%s", text, md.String())
	}

	in := goodNight()
	in.Subjects[in.Subjects[0].Against].Runs = nil
	table = narrowed(t, in, "parallel=tp4-pp2")
	if !slices.ContainsFunc(table.Warnings, func(w string) bool { return strings.HasPrefix(w, "no baseline chosen: ") }) || table.Baseline != "" ||
		slices.ContainsFunc(table.Levels[0].Rows, func(r Row) bool { return r.Delta != nil }) {
		t.Errorf("%q, baseline %q", table.Warnings, table.Baseline)
	}
}

// TestForeignLevels: a level that another file measured of the same server is not
// in the report of a night that did not ask for it.
func TestForeignLevels(t *testing.T) {
	in := goodNight()
	whole := len(Build(in).Levels)
	asked := in.Levels
	in.Levels = asked[1:]
	table := Build(in)
	if len(table.Levels) != whole-1 {
		t.Errorf("%d levels, want %d", len(table.Levels), whole-1)
	}
	in.Levels, in.Night = nil, ""
	if n := len(Build(in).Levels); n != whole {
		t.Errorf("%d levels without a plan, want %d", n, whole)
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
