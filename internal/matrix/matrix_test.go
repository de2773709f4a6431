package matrix

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// flag is an axis value that sets one flag.
func flag(label, name, word string, line int) AxisValue {
	pos := Pos{Line: line, Column: 5}
	return AxisValue{Label: label, Pos: pos, Settings: []Setting{{Target: Flag, Name: name, Value: Value{Kind: Word, Words: []string{word}}, Pos: pos}}}
}

// sample is a 2 × 3 matrix.
func sample() Matrix {
	return Matrix{Axes: []Axis{
		{Name: "parallel", Pos: Pos{1, 1}, Values: []AxisValue{flag("tp8", "tp-size", "8", 2), flag("tp4", "tp-size", "4", 3)}},
		{Name: "cap", Pos: Pos{4, 1}, Values: []AxisValue{flag("64", "max-running-requests", "64", 5), flag("1024", "max-running-requests", "1024", 6), flag("2048", "max-running-requests", "2048", 7)}},
	}}
}

// labels reads "a=b,c=d".
func labels(text string) []Label {
	var all []Label
	for _, term := range strings.Split(text, ",") {
		axis, value, _ := strings.Cut(term, "=")
		all = append(all, Label{axis, value})
	}
	return all
}

func rule(text string, line int) Rule {
	return Rule{Labels: labels(text), Text: text, Pos: Pos{line, 3}}
}

func names(e *Expansion) []string {
	var all []string
	for _, p := range e.Points {
		all = append(all, e.Name(p))
	}
	return all
}

func expand(t *testing.T, m Matrix, o Options) *Expansion {
	t.Helper()
	e, err := m.Expand(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFileOrder: the last axis varies fastest, and nothing is sorted.
func TestFileOrder(t *testing.T) {
	e := expand(t, sample(), Options{})
	want := []string{
		"parallel=tp8,cap=64", "parallel=tp8,cap=1024", "parallel=tp8,cap=2048",
		"parallel=tp4,cap=64", "parallel=tp4,cap=1024", "parallel=tp4,cap=2048",
	}
	if diff := cmp.Diff(want, names(e)); diff != "" {
		t.Error(diff)
	}
	if e.Baseline != 0 {
		t.Errorf("baseline %d, without one in the file it is the first", e.Baseline)
	}
	if diff := cmp.Diff(labels("parallel=tp4,cap=1024"), e.Labels(nil, e.Points[4])); diff != "" {
		t.Error(diff)
	}
}

// TestNoAxes: a matrix without axes is one point.
func TestNoAxes(t *testing.T) {
	e := expand(t, Matrix{}, Options{})
	if diff := cmp.Diff([]string{"base"}, names(e)); diff != "" {
		t.Error(diff)
	}
	if e := expand(t, Matrix{}, Options{Only: []string{"base"}}); len(e.Points) != 1 {
		t.Errorf("--only base selects %d", len(e.Points))
	}
}

// TestExcludeNamesItsRule: each dropped point comes with the first rule that
// matched, and a rule that drops nothing new is told.
func TestExcludeNamesItsRule(t *testing.T) {
	m := sample()
	m.Exclude = []Rule{rule("parallel=tp4,cap=2048", 10), rule("cap=2048", 11), rule("parallel=tp8,cap=2048", 12)}
	e := expand(t, m, Options{})
	var dropped []string
	for _, d := range e.Dropped {
		dropped = append(dropped, fmt.Sprintf("%s by line %d", e.Name(d.Point), d.Rule.Pos.Line))
	}
	want := []string{"parallel=tp8,cap=2048 by line 11", "parallel=tp4,cap=2048 by line 10"}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Error(diff)
	}
	if len(e.Idle) != 1 || e.Idle[0].Pos.Line != 12 {
		t.Errorf("idle rules %v", e.Idle)
	}
	if len(e.Points) != 4 {
		t.Errorf("%d points", len(e.Points))
	}
}

// TestDroppedIsJudgedBeforeOnly: what a selection leaves out is not "dropped",
// and what a rule drops is, selected or not.
func TestDroppedIsJudgedBeforeOnly(t *testing.T) {
	m := sample()
	m.Exclude = []Rule{rule("parallel=tp4,cap=2048", 10)}
	e := expand(t, m, Options{Only: []string{"parallel=tp8"}})
	if len(e.Dropped) != 1 || len(e.Points) != 3 {
		t.Errorf("%d dropped, %d points", len(e.Dropped), len(e.Points))
	}
}

func TestIncludeComesLast(t *testing.T) {
	m := sample()
	m.Include = []Include{
		{Name: "recipe", Labels: labels("parallel=tp8,cap=64"), Set: []Setting{{Target: Flag, Name: "page-size"}}},
		// Its set decides what the axis cap would, so at need not name it.
		{Name: "eight", Labels: labels("parallel=tp4"), Set: []Setting{{Target: Flag, Name: "max-running-requests"}}},
	}
	e := expand(t, m, Options{})
	if diff := cmp.Diff([]string{"recipe", "eight"}, names(e)[6:]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(labels("parallel=tp4"), e.Labels(nil, e.Points[7])); diff != "" {
		t.Error(diff)
	}
	if e.Points[7].Choice[1] != Any || e.Points[7].Include.Name != "eight" {
		t.Errorf("point %+v", e.Points[7])
	}
}

func TestBaseline(t *testing.T) {
	m := sample()
	m.Baseline = rule("cap=1024,parallel=tp4", 20)
	if e := expand(t, m, Options{}); e.Baseline != 4 {
		t.Errorf("baseline %d, want 4", e.Baseline)
	}
	if e := expand(t, m, Options{Only: []string{"cap=1024"}}); e.Baseline != 1 {
		t.Errorf("baseline %d among the selected, want 1", e.Baseline)
	}
	if e := expand(t, m, Options{Only: []string{"parallel=tp8"}}); e.Baseline != -1 {
		t.Errorf("baseline %d, want -1: it is not selected", e.Baseline)
	}
	// Without a baseline in the file, the first that the rules leave.
	m = sample()
	m.Exclude = []Rule{rule("parallel=tp8", 10)}
	if e := expand(t, m, Options{Only: []string{"cap=64"}}); e.Baseline != 0 {
		t.Errorf("baseline %d, want 0", e.Baseline)
	}
	m.Exclude = append(m.Exclude, rule("parallel=tp4", 11))
	m.Include = []Include{{Name: "x", Labels: labels("parallel=tp8,cap=64")}}
	if e := expand(t, m, Options{}); e.Baseline != 0 {
		t.Errorf("baseline %d, want the first include", e.Baseline)
	}
}

// TestProblems: every way in which a matrix is refused.
func TestProblems(t *testing.T) {
	with := func(change func(*Matrix)) Matrix {
		m := sample()
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m    Matrix
		o    Options
		want string
	}{
		"unknown axis in a rule": {with(func(m *Matrix) { m.Exclude = []Rule{rule("parallle=tp8", 9)} }), Options{},
			`9:3: the rule names the axis "parallle", which the matrix does not have (did you mean "parallel"?)`},
		"nothing near": {with(func(m *Matrix) { m.Exclude = []Rule{rule("quux=tp8", 9)} }), Options{},
			`9:3: the rule names the axis "quux", which the matrix does not have (the axes are parallel, cap)`},
		"unknown value in a rule": {with(func(m *Matrix) { m.Exclude = []Rule{rule("parallel=tp88", 9)} }), Options{},
			`9:3: the rule names "tp88", which is no value of the axis "parallel" (did you mean "tp8"?)`},
		"place of a label": {with(func(m *Matrix) {
			r := rule("parallel=tp8,kap=64", 9)
			r.Places = []Place{{Pos{9, 5}, Pos{9, 15}}, {Pos{9, 20}, Pos{9, 25}}}
			m.Exclude = []Rule{r}
		}), Options{}, `9:20: the rule names the axis "kap", which the matrix does not have (did you mean "cap"?)`},
		"place of a value": {with(func(m *Matrix) {
			r := rule("parallel=tp8,cap=46", 9)
			r.Places = []Place{{Pos{9, 5}, Pos{9, 15}}, {Pos{9, 20}, Pos{9, 25}}}
			m.Exclude = []Rule{r}
		}), Options{}, `9:25: the rule names "46", which is no value of the axis "cap" (its values are 64, 1024, 2048)`},
		"rules about an axis without values": {with(func(m *Matrix) {
			m.Axes[1].Values = nil
			m.Exclude, m.Baseline = []Rule{rule("cap=64", 9)}, rule("parallel=tp8", 10)
		}), Options{}, `4:1: the axis "cap" has no values (give it at least one value, or remove it)`},
		"two values of one axis": {with(func(m *Matrix) { m.Exclude = []Rule{rule("cap=64,cap=1024", 9)} }), Options{},
			`9:3: the rule names two values of the axis "cap" (keep one of them; a rule for each says either)`},
		"empty rule": {with(func(m *Matrix) { m.Exclude = []Rule{{Pos: Pos{9, 3}}} }), Options{},
			`9:3: the rule names nothing, so it would drop everything (name at least one axis: {axis: label})`},
		"rule without a matrix": {Matrix{Exclude: []Rule{rule("a=b", 9)}}, Options{},
			`9:3: the rule names the axis "a", which the matrix does not have (there is no matrix in this file)`},
		"axis twice": {with(func(m *Matrix) {
			m.Axes = append(m.Axes, Axis{Name: "cap", Pos: Pos{8, 1}, Values: []AxisValue{{Label: "x"}}})
		}), Options{}, `8:1: the axis "cap" is there twice (give each axis its own name)`},
		"axis without values": {with(func(m *Matrix) { m.Axes[1].Values = nil }), Options{},
			`4:1: the axis "cap" has no values (give it at least one value, or remove it)`},
		"label twice": {with(func(m *Matrix) { m.Axes[1].Values[2].Label = "64" }), Options{},
			`7:5: the label "64" is there twice on the axis "cap" (give each value its own label)`},
		"two axes on one flag": {with(func(m *Matrix) { m.Axes[1].Values[1].Settings[0].Name = "tp-size" }), Options{},
			`6:5: the axes "parallel" and "cap" both set the flag tp-size (put what goes together into one axis)`},
		"two axes on one variable": {with(func(m *Matrix) {
			m.Axes[0].Values[0].Settings[0] = Setting{Target: Env, Name: "X"}
			m.Axes[1].Values[0].Settings[0] = Setting{Target: Env, Name: "X", Pos: Pos{5, 9}}
		}), Options{}, `5:9: the axes "parallel" and "cap" both set the variable X (put what goes together into one axis)`},
		"include without a value": {with(func(m *Matrix) { m.Include = []Include{{Name: "x", Labels: labels("parallel=tp8"), Pos: Pos{9, 3}}} }), Options{},
			`9:3: "x" does not say which value of the axis "cap" it takes (name one of 64, 1024, 2048 in at, or set what the axis sets)`},
		"include twice": {with(func(m *Matrix) {
			x := Include{Name: "x", Labels: labels("parallel=tp8,cap=64"), Pos: Pos{9, 3}}
			m.Include = []Include{x, x}
		}), Options{}, `9:3: the name "x" is taken by the configuration on line 9 (give each configuration its own name)`},
		"include at an unknown value": {with(func(m *Matrix) {
			m.Include = []Include{{Name: "x", Labels: labels("parallel=tp9,cap=64"), Pos: Pos{9, 3}}}
		}), Options{},
			`9:3: at names "tp9", which is no value of the axis "parallel" (did you mean "tp8"?)`},
		"baseline incomplete": {with(func(m *Matrix) { m.Baseline = rule("cap=64", 9) }), Options{},
			`9:3: the baseline does not say which value of the axis "parallel" it takes (name one of tp8, tp4)`},
		"baseline unknown": {with(func(m *Matrix) { m.Baseline = rule("cap=65", 9) }), Options{},
			`9:3: the baseline names "65", which is no value of the axis "cap" (its values are 64, 1024, 2048)`},
		"baseline dropped": {with(func(m *Matrix) {
			m.Baseline, m.Exclude = rule("cap=64,parallel=tp8", 9), []Rule{rule("cap=64", 8)}
		}), Options{}, `9:3: the baseline is dropped by the rule on line 8: cap=64 (take another baseline, or change the rule)`},
		"everything dropped": {with(func(m *Matrix) { m.Exclude = []Rule{rule("parallel=tp8", 8), rule("parallel=tp4", 9)} }), Options{},
			`1:1: the rules on lines 8, 9 drop every value of the axis "parallel": nothing is left to run (remove or narrow one of them)`},
		"everything dropped on two axes, and the baseline": {with(func(m *Matrix) {
			m.Baseline = rule("cap=64,parallel=tp8", 20)
			for i, text := range []string{"parallel=tp8", "cap=64", "cap=1024", "parallel=tp4", "cap=2048"} {
				m.Exclude = append(m.Exclude, rule(text, 8+i))
			}
		}), Options{},
			`20:3: the baseline is dropped by the rule on line 8: parallel=tp8 (take another baseline, or change the rule)` + "\n" +
				`1:1: the rules on lines 8, 11 drop every value of the axis "parallel": nothing is left to run (remove or narrow one of them)` + "\n" +
				`4:1: the rules on lines 9, 10, 12 drop every value of the axis "cap": nothing is left to run (remove or narrow one of them)`},
		"everything dropped by conditions on one axis": {with(func(m *Matrix) {
			w, problems := CompileWhen(`len(axis.cap) > 1`, nil, m.Axes)
			if len(problems) > 0 {
				panic(problems)
			}
			m.Exclude = []Rule{{When: w, Pos: Pos{8, 3}}}
		}), Options{},
			`4:1: the rule on line 8 drops every value of the axis "cap": nothing is left to run (remove or narrow that rule)`},
		"everything dropped by no one axis": {with(func(m *Matrix) {
			m.Exclude = []Rule{rule("parallel=tp8", 8), rule("parallel=tp4,cap=64", 9), rule("parallel=tp4,cap=1024", 10), rule("parallel=tp4,cap=2048", 11)}
		}), Options{},
			`1:1: the rules drop all 6 combinations: nothing is left to run (remove or narrow a rule: line 8 drops 3, line 9 drops 1, line 10 drops 1, line 11 drops 1)`},
		"axes without values": {with(func(m *Matrix) { m.Axes[0].Values, m.Axes[1].Values = nil, nil }), Options{},
			`1:1: the axis "parallel" has no values (give it at least one value, or remove it)` + "\n" +
				`4:1: the axis "cap" has no values (give it at least one value, or remove it)`},
		"too many": {sample(), Options{Max: 5},
			`1:1: the sweep has 6 configurations, more than 5 (drop combinations with exclude, select some with --only, or raise --max-configs)`},
		"selects nothing": {with(func(m *Matrix) { m.Exclude = []Rule{rule("parallel=tp8", 8)} }), Options{Only: []string{"parallel=tp8"}},
			"--only \"parallel=tp8\" selects nothing: the rules drop all 3 combinations that it names (`sweep plan` without --only lists every configuration)"},
		"selects nothing, with near ones": {with(func(m *Matrix) { m.Exclude = []Rule{rule("parallel=tp8,cap=64", 8)} }), Options{Only: []string{"parallel=tp8,cap=64"}},
			`--only "parallel=tp8,cap=64" selects nothing: a rule drops the one combination that it names (nearest to it: parallel=tp8,cap=1024 or parallel=tp8,cap=2048 or parallel=tp4,cap=64)`},
		"unknown selection": {sample(), Options{Only: []string{"kap=64", "cap=6", "x"}},
			`--only "kap=64": there is no axis "kap" (did you mean "cap"?)` + "\n" +
				`--only "cap=6": "6" is no value of the axis "cap" (its values are 64, 1024, 2048)` + "\n" +
				`--only "x": no configuration has this name (write axis=label (the axes are parallel, cap))`},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := c.m.Expand(c.o)
			var problems Problems
			if !errors.As(err, &problems) || e != nil {
				t.Fatalf("got %v, %v, want Problems", e, err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLimitsAreErrors: a product that is too large is never cut, and never
// walked either.
func TestLimitsAreErrors(t *testing.T) {
	var m Matrix
	for i := range 30 {
		a := Axis{Name: fmt.Sprintf("a%d", i), Pos: Pos{i + 1, 1}}
		for j := range 1000 {
			a.Values = append(a.Values, AxisValue{Label: fmt.Sprint(j)})
		}
		m.Axes = append(m.Axes, a)
	}
	_, err := m.Expand(Options{Max: 1 << 60})
	if err == nil || err.Error() != "1:1: the axes multiply to more than a quadrillion combinations, more than 1000000 (split the sweep into several files)" {
		t.Errorf("got %v", err)
	}
	m.Axes = m.Axes[:2]
	if m.Size() != 1_000_000 {
		t.Errorf("size %d", m.Size())
	}
	_, err = m.Expand(Options{})
	if err == nil || !strings.Contains(err.Error(), "the sweep has 1000000 configurations, more than 500") {
		t.Errorf("got %v", err)
	}
	// --only can make a large matrix small.
	if e := expand(t, m, Options{Only: []string{"a0=3,a1=7|8"}}); len(e.Points) != 2 {
		t.Errorf("%d points", len(e.Points))
	}
}

func TestOnly(t *testing.T) {
	m := sample()
	m.Include = []Include{{Name: "mine", Labels: labels("parallel=tp4"), Set: []Setting{{Target: Flag, Name: "max-running-requests"}}}}
	for _, c := range []struct {
		only []string
		want []string
	}{
		{[]string{"parallel=tp8,cap=64|2048"}, []string{"parallel=tp8,cap=64", "parallel=tp8,cap=2048"}},
		{[]string{"cap=64"}, []string{"parallel=tp8,cap=64", "parallel=tp4,cap=64"}},
		{[]string{"parallel=tp4,cap=*"}, []string{"parallel=tp4,cap=64", "parallel=tp4,cap=1024", "parallel=tp4,cap=2048", "mine"}},
		{[]string{"mine"}, []string{"mine"}},
		{[]string{"cap=64", "mine", "parallel=tp8,cap=64"}, []string{"parallel=tp8,cap=64", "parallel=tp4,cap=64", "mine"}},
	} {
		if diff := cmp.Diff(c.want, names(expand(t, m, Options{Only: c.only}))); diff != "" {
			t.Errorf("%q: %s", c.only, diff)
		}
	}
}

// TestNameSelectsItself: the name that a table shows can be pasted into --only.
func TestNameSelectsItself(t *testing.T) {
	m := sample()
	for _, name := range names(expand(t, m, Options{})) {
		if diff := cmp.Diff([]string{name}, names(expand(t, m, Options{Only: []string{name}}))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNear(t *testing.T) {
	words := []string{"concurrency", "burst", "prompts", "workload", "tp8", "tp4-pp2", "on", "off"}
	for word, want := range map[string]string{
		"concurency":              "concurrency", // a letter too few
		"concurrrency":            "concurrency", // a letter too many
		"cnocurrency":             "concurrency", // swapped
		"brust":                   "burst",
		"prompt":                  "prompts",
		"workloads":               "workload",
		"tp-8":                    "tp8",
		"tp9":                     "tp8",
		"tp4pp2":                  "tp4-pp2",
		"":                        "",
		"x":                       "",
		"quux":                    "",
		"of":                      "off", // cut short, though "on" is one slip away
		"offf":                    "off",
		"no":                      "", // two letters resemble everything
		"out":                     "",
		"concurrency-and-more":    "",
		strings.Repeat("x", 1000): "",
	} {
		if got := Near(word, words); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Near("off", []string{"on", "bs256"}); got != "" { // it would exclude the baseline
		t.Errorf("off without off: got %q", got)
	}
	if got := Near("abc", []string{strings.Repeat("y", 1000), ""}); got != "" {
		t.Errorf("got %q", got)
	}
	if got := Suggest("brust", words); got != `did you mean "burst"?` {
		t.Errorf("got %q", got)
	}
}

// TestDistance compares the bounded distance with a plain definition.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"abcdef", "badcfe", 3}} {
		if got := distance(c.a, c.b, 10); got != c.want {
			t.Errorf("%q %q: got %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a, 10); got != c.want {
			t.Errorf("%q %q: got %d, want %d", c.b, c.a, got, c.want)
		}
	}
	if got := distance("aaaaaaaa", "bbbbbbbb", 2); got != 3 {
		t.Errorf("got %d, want limit+1", got)
	}
}
