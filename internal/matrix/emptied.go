package matrix

import (
	"fmt"
	"strings"
)

// emptied says why rules leave nothing of the product: each axis that rules on
// it alone take every value of, all at once, so that mending one does not only
// bring up the next. Where there is no such axis it says how much each rule
// drops.
func (m Matrix) emptied(e *Expansion, judges []*judge) Problems {
	var problems Problems
	ix := newIndex(m.Axes)
	for a, axis := range m.Axes {
		var lines []string
		for v := range axis.Values {
			r := m.dropsValue(ix, judges, a, v)
			if r < 0 {
				lines = nil
				break
			}
			if line := fmt.Sprint(m.Exclude[r].Pos.Line); len(lines) == 0 || lines[len(lines)-1] != line {
				lines = append(lines, line)
			}
		}
		switch {
		case len(lines) == 1:
			problems.add(axis.Pos, "remove or narrow that rule", "the rule on line %s drops every value of the axis %q: nothing is left to run", lines[0], axis.Name)
		case len(lines) > 1:
			problems.add(axis.Pos, "remove or narrow one of them", "the rules on lines %s drop every value of the axis %q: nothing is left to run", list(lines), axis.Name)
		}
	}
	if len(problems) == 0 {
		problems.add(m.pos(), "remove or narrow a rule: "+m.shares(e), "the rules drop all %d combinations: nothing is left to run", len(e.Dropped))
	}
	return problems
}

// dropsValue is the first rule that drops a value of an axis whatever the other
// axes are; -1: none does.
func (m Matrix) dropsValue(ix index, judges []*judge, axis, value int) int {
	choice := make([]int32, len(m.Axes))
	choice[axis] = int32(value)
	for i, r := range m.Exclude {
		wanted, alone := ix.choice(m.Axes, r.Labels, nil, r.Pos, "", new(Problems)), true
		for a, v := range wanted {
			alone = alone && (v == Any || a == axis && int(v) == value)
		}
		if j := judges[i]; alone && j != nil {
			alone = !j.broken && len(j.axes) == 1 && j.axes[0] == axis
			if alone {
				yes, err := j.matches(m.Axes, choice)
				alone = yes && err == nil
			}
		}
		if alone {
			return i
		}
	}
	return -1
}

// shares says how many combinations each rule drops, for the first few.
func (m Matrix) shares(e *Expansion) string {
	const most = 5
	n := map[*Rule]int{}
	for _, d := range e.Dropped {
		n[d.Rule]++
	}
	var parts []string
	for i := range m.Exclude {
		r := &m.Exclude[i]
		if n[r] == 0 {
			continue
		}
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("line %d drops %d", r.Pos.Line, n[r]))
	}
	return strings.Join(parts, ", ")
}
