package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// Named is a configuration as plans and records keep it.
type Named struct {
	Name   string
	Labels []Label

	Baseline bool // the others are compared with it
}

// Select tells which configurations the patterns of --only name. They mean what
// they mean to Expand; what counts as an axis, a label or a name is what the
// configurations have. The error is Problems, also when nothing is selected.
func Select(all []Named, only []string) ([]bool, error) {
	m, points := rebuilt(all)
	sel, problems := m.compile(only)
	if len(problems) > 0 {
		return nil, problems
	}
	chosen, some := make([]bool, len(all)), false
	for i, p := range points {
		chosen[i] = sel.matches(p, all[i].Baseline)
		some = some || chosen[i]
	}
	if !some {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		hint := sel.near(points, func(i int) string { return names[i] })
		if hint == "" {
			hint = "there are " + list(names)
		}
		problems.add(Pos{}, hint, "--only %s selects nothing", quoted(only))
		return nil, problems
	}
	return chosen, nil
}

// rebuilt is a matrix that could have made these configurations, and the point
// of each in it.
func rebuilt(all []Named) (Matrix, []Point) {
	var m Matrix
	axes, values := map[string]int{}, map[Label]int{}
	for _, c := range all {
		for _, l := range c.Labels {
			a, known := axes[l.Axis]
			if !known {
				a = len(m.Axes)
				axes[l.Axis] = a
				m.Axes = append(m.Axes, Axis{Name: l.Axis})
			}
			if _, known := values[l]; !known {
				values[l] = len(m.Axes[a].Values)
				m.Axes[a].Values = append(m.Axes[a].Values, AxisValue{Label: l.Value})
			}
		}
	}
	points := make([]Point, len(all))
	m.Include = make([]Include, 0, len(all)) // points refer to its items
	for i, c := range all {
		choice := make([]int32, len(m.Axes))
		for a := range choice {
			choice[a] = Any
		}
		parts := make([]string, len(c.Labels))
		for j, l := range c.Labels {
			choice[axes[l.Axis]] = int32(values[l])
			parts[j] = l.Axis + "=" + l.Value
		}
		points[i].Choice = choice
		if len(parts) == 0 || strings.Join(parts, ",") != c.Name {
			m.Include = append(m.Include, Include{Name: c.Name, Labels: c.Labels})
			points[i].Include = &m.Include[len(m.Include)-1]
		}
	}
	return m, points
}

// shownNear is how many near configurations a message names.
const shownNear = 3

// near names the points that fit most of a selection that nothing fits; empty
// when none fits any part of it.
func (s selection) near(points []Point, name func(int) string) string {
	best, found := 0, []int(nil)
	for i, p := range points {
		switch fit := s.fit(p); {
		case fit > best:
			best, found = fit, []int{i}
		case fit == best && best > 0 && len(found) <= shownNear:
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return ""
	}
	names, more := make([]string, 0, shownNear), ""
	for _, i := range found[:min(len(found), shownNear)] {
		names = append(names, name(i))
	}
	if len(found) > shownNear {
		more = ", …"
	}
	return "nearest to it: " + strings.Join(names, " or ") + more
}

// fit is how many axes of the pattern that fits best are as it wants them.
func (s selection) fit(p Point) int {
	best := 0
	for _, want := range s {
		n := 0
		for _, a := range want.axes {
			if a.values != nil && slices.Contains(a.values, p.Choice[a.axis]) {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

// nothing says that a selection left no configuration, and whose doing it is.
func (m Matrix) nothing(e *Expansion, sel selection, only []string) Problem {
	hit := 0
	for _, d := range e.Dropped {
		if sel.matches(d.Point, false) {
			hit++
		}
	}
	text := fmt.Sprintf("--only %s selects nothing", quoted(only))
	switch {
	case hit == 1:
		text += ": a rule drops the one combination that it names"
	case hit > 1:
		text += fmt.Sprintf(": the rules drop all %d combinations that it names", hit)
	}
	hint := ""
	if all, err := m.Expand(Options{Max: MaxProduct + len(m.Include)}); err == nil {
		hint = sel.near(all.Points, func(i int) string { return all.Name(all.Points[i]) })
	}
	if hint == "" {
		hint = "`sweep plan` without --only lists every configuration"
	}
	return Problem{Message: text, Hint: hint}
}
