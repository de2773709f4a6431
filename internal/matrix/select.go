package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// A selection is a list of patterns of which one must match. A pattern is
//
//	axis=label,axis=label|label,axis=*    every named axis must fit
//	NAME|NAME                             included configurations
//	baseline                              the baseline
//
// A configuration's own name is such a pattern too.
type selection []pattern

type pattern struct {
	name string
	axes []allowed

	baseline bool // whichever configuration that is
}

type allowed struct {
	axis   int
	values []int32 // nil: any
}

// compile reads the texts of --only; nothing unknown is let through, since a
// mistyped selection would quietly run something else.
func (m Matrix) compile(only []string) (selection, Problems) {
	var sel selection
	var problems Problems
	ix := newIndex(m.Axes)
	for _, text := range only {
		if !strings.Contains(text, "=") {
			names := m.names()
			for _, name := range strings.Split(text, "|") {
				if name == BaselineName && !slices.Contains(names, name) {
					sel = append(sel, pattern{baseline: true})
					continue
				}
				sel = append(sel, pattern{name: name})
				if !slices.Contains(names, name) {
					hint := Suggest(name, names)
					if hint == "" {
						hint = m.nameHint(names)
					}
					problems.add(Pos{}, hint, "--only %q: no configuration has this name", name)
				}
			}
			continue
		}
		p := pattern{}
		for _, term := range strings.Split(text, ",") {
			axis, values, ok := strings.Cut(term, "=")
			a, known := ix.axes[axis]
			switch {
			case !ok:
				problems.add(Pos{}, "write axis=label,axis=label", "--only %q: %q has no =", text, term)
				continue
			case !known:
				problems.add(Pos{}, axisHint(m.Axes, axis), "--only %q: there is no axis %q", text, axis)
				continue
			}
			want := allowed{axis: a}
			if values != "*" {
				want.values = []int32{}
				for _, label := range strings.Split(values, "|") {
					v, known := ix.labels[a][label]
					if !known {
						problems.add(Pos{}, valueHint(m.Axes[a], label), "--only %q: %q is no value of the axis %q", text, label, axis)
						continue
					}
					want.values = append(want.values, int32(v))
				}
			}
			p.axes = append(p.axes, want)
		}
		sel = append(sel, p)
	}
	return sel, problems
}

// nameHint says what can be selected, to someone who named what is not there.
func (m Matrix) nameHint(names []string) string {
	hint := "write axis=label"
	if len(m.Axes) > 0 {
		axes := make([]string, len(m.Axes))
		for i, a := range m.Axes {
			axes[i] = a.Name
		}
		hint += " (the axes are " + list(axes) + ")"
	}
	if len(names) > 0 {
		return hint + ", or one of the names " + list(names)
	}
	return hint
}

// names are the configurations that have a name of their own.
func (m Matrix) names() []string {
	var names []string
	if len(m.Axes) == 0 {
		names = append(names, BaseName)
	}
	for _, inc := range m.Include {
		names = append(names, inc.Name)
	}
	return names
}

// matches tells whether a point is selected, which may be the baseline.
func (s selection) matches(p Point, baseline bool) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(want pattern) bool {
		if want.baseline {
			return baseline
		}
		return want.matches(p)
	})
}

func (want pattern) matches(p Point) bool {
	if want.name != "" || len(want.axes) == 0 {
		if p.Include != nil {
			return p.Include.Name == want.name
		}
		return len(p.Choice) == 0 && want.name == BaseName
	}
	for _, a := range want.axes {
		if a.values != nil && !slices.Contains(a.values, p.Choice[a.axis]) {
			return false
		}
	}
	return true
}

// count prints a size that may have run past what an int holds.
func count(n int) string {
	if n > 1e15 {
		return "more than a quadrillion"
	}
	return fmt.Sprint(n)
}

func quoted(texts []string) string {
	q := make([]string, len(texts))
	for i, t := range texts {
		q[i] = fmt.Sprintf("%q", t)
	}
	return strings.Join(q, " ")
}
