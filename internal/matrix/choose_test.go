package matrix

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded are configurations as a plan keeps them: four of the product, one by
// hand with labels, one by hand without.
func recorded() []Named {
	var all []Named
	for _, name := range []string{"parallel=tp8,cap=64", "parallel=tp8,cap=1024", "parallel=tp4,cap=64", "parallel=tp4,cap=1024"} {
		all = append(all, Named{Name: name, Labels: labels(name)})
	}
	return append(all, Named{Name: "few-users", Labels: labels("parallel=tp8")}, Named{Name: "base"})
}

// TestSelect: --only means on records what it means on a matrix.
func TestSelect(t *testing.T) {
	all := recorded()
	for _, c := range []struct {
		only []string
		want []string
	}{
		{nil, []string{"parallel=tp8,cap=64", "parallel=tp8,cap=1024", "parallel=tp4,cap=64", "parallel=tp4,cap=1024", "few-users", "base"}},
		{[]string{"parallel=tp8"}, []string{"parallel=tp8,cap=64", "parallel=tp8,cap=1024", "few-users"}},
		{[]string{"cap=64|1024,parallel=tp4"}, []string{"parallel=tp4,cap=64", "parallel=tp4,cap=1024"}},
		{[]string{"parallel=tp4,cap=*"}, []string{"parallel=tp4,cap=64", "parallel=tp4,cap=1024"}},
		{[]string{"few-users", "parallel=tp4,cap=64"}, []string{"parallel=tp4,cap=64", "few-users"}},
		{[]string{"few-users|base"}, []string{"few-users", "base"}},
	} {
		chosen, err := Select(all, c.only)
		if err != nil {
			t.Errorf("%q: %v", c.only, err)
			continue
		}
		var got []string
		for i, yes := range chosen {
			if yes {
				got = append(got, all[i].Name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.only, diff)
		}
	}
}

// TestBaselineIsAName: it is the one that the others are compared with, unless
// one has that name of its own.
func TestBaselineIsAName(t *testing.T) {
	all := recorded()
	all[3].Baseline = true
	if chosen, err := Select(all, []string{"baseline"}); err != nil || !chosen[3] || chosen[0] || chosen[4] {
		t.Errorf("%v, %v", chosen, err)
	}
	all[4].Name = "baseline"
	if chosen, err := Select(all, []string{"baseline"}); err != nil || chosen[3] || !chosen[4] {
		t.Errorf("one of that name: %v, %v", chosen, err)
	}
	m := sample()
	if e := expand(t, m, Options{Only: []string{"baseline"}}); len(e.Points) != 1 || e.Baseline != 0 {
		t.Errorf("%+v", e)
	}
}

// TestSelectAgreesWithExpand: the points that a matrix keeps under a selection
// are those that Select takes from all its points.
func TestSelectAgreesWithExpand(t *testing.T) {
	m := sample()
	m.Include = []Include{{Name: "by-hand", Labels: labels("parallel=tp8,cap=64")}}
	whole := expand(t, m, Options{})
	var all []Named
	for _, p := range whole.Points {
		all = append(all, Named{Name: whole.Name(p), Labels: whole.Labels(nil, p), Baseline: p.Include == nil && len(all) == whole.Baseline})
	}
	for _, only := range [][]string{{"parallel=tp8"}, {"cap=64|1024", "by-hand"}, {"parallel=*,cap=2048"}, {"parallel=tp4,cap=64"}, {"by-hand"}, {"baseline"}, {"baseline|by-hand"}} {
		narrow := expand(t, m, Options{Only: only})
		var want, got []string
		for _, p := range narrow.Points {
			want = append(want, narrow.Name(p))
		}
		chosen, err := Select(all, only)
		if err != nil {
			t.Fatal(err)
		}
		for i, yes := range chosen {
			if yes {
				got = append(got, all[i].Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", only, diff)
		}
	}
}

// TestSelectNothing: what selects nothing is an error with what is near it.
func TestSelectNothing(t *testing.T) {
	all := recorded()[1:] // without parallel=tp8,cap=64
	for only, want := range map[string]string{
		"parallle=tp8":        `--only "parallle=tp8": there is no axis "parallle" (did you mean "parallel"?)`,
		"parallel=tp9":        `--only "parallel=tp9": "tp9" is no value of the axis "parallel" (did you mean "tp8"?)`,
		"few-user":            `--only "few-user": no configuration has this name (did you mean "few-users"?)`,
		"zzz":                 `--only "zzz": no configuration has this name (write axis=label (the axes are parallel, cap), or one of the names few-users, base)`,
		"":                    `--only "": no configuration has this name (write axis=label (the axes are parallel, cap), or one of the names few-users, base)`,
		"parallel=tp8,cap=64": `--only "parallel=tp8,cap=64" selects nothing (nearest to it: parallel=tp8,cap=1024 or parallel=tp4,cap=64 or few-users)`,
	} {
		chosen, err := Select(all, []string{only})
		var problems Problems
		if !errors.As(err, &problems) || chosen != nil {
			t.Errorf("%q: got %v, %v", only, chosen, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q: %s", only, diff)
		}
	}
}
