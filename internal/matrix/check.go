package matrix

import "fmt"

// Check finds everything that is wrong with a matrix before it is expanded:
// axes without values, colliding names and labels, two axes that set the same
// thing, rules and includes that name what is not there, an incomplete baseline.
func (m Matrix) Check() Problems {
	var problems Problems
	m.checkAxes(&problems)
	m.checkSettings(&problems)
	ix := newIndex(m.Axes)
	for _, r := range m.Exclude {
		if len(r.Labels) == 0 && r.When == nil {
			problems.add(r.Pos, "name at least one axis: {axis: label}", "the rule names nothing, so it would drop everything")
		}
		ix.choice(m.Axes, r.Labels, r.Places, r.Pos, "the rule", &problems)
	}
	m.checkIncludes(ix, &problems)
	m.checkBaseline(ix, &problems)
	return problems
}

func (m Matrix) checkAxes(problems *Problems) {
	if len(m.Axes) > MaxAxes {
		problems.add(m.Axes[MaxAxes].Pos, "bundle what goes together into one axis", "a matrix has at most %d axes, this one has %d", MaxAxes, len(m.Axes))
	}
	names := map[string]bool{}
	for _, a := range m.Axes {
		if names[a.Name] {
			problems.add(a.Pos, "give each axis its own name", "the axis %q is there twice", a.Name)
		}
		names[a.Name] = true
		if len(a.Values) == 0 {
			problems.add(a.Pos, "give it at least one value, or remove it", "the axis %q has no values", a.Name)
		}
		labels := map[string]bool{}
		for _, v := range a.Values {
			if labels[v.Label] {
				problems.add(v.Pos, "give each value its own label", "the label %q is there twice on the axis %q", v.Label, a.Name)
			}
			labels[v.Label] = true
		}
	}
}

// target is what a setting changes, as a map key.
type target struct {
	kind Target
	name string
}

// String is the target as a person would say it.
func (t target) String() string {
	switch t.kind {
	case Flag:
		return "the flag " + t.name
	case Env:
		return "the variable " + t.name
	}
	return "the " + string(t.kind) // command, image, instance
}

// checkSettings refuses two axes on one flag or variable: which of them wins
// would be a question of order, and a label would not say what was measured.
func (m Matrix) checkSettings(problems *Problems) {
	owner := map[target]int{}
	for i, a := range m.Axes {
		told := map[target]bool{}
		for _, v := range a.Values {
			for _, s := range v.Settings {
				t := target{s.Target, s.Name}
				if t.kind == Instance {
					t.kind = Image // one server has one container, wherever it comes from
				}
				first, taken := owner[t]
				if !taken {
					owner[t] = i
					continue
				}
				if first != i && !told[t] {
					told[t] = true
					problems.add(s.Pos, "put what goes together into one axis", "the axes %q and %q both set %s", m.Axes[first].Name, a.Name, target{s.Target, s.Name})
				}
			}
		}
	}
}

func (m Matrix) checkIncludes(ix index, problems *Problems) {
	names := map[string]string{} // and who has it
	if len(m.Axes) == 0 {
		names[BaseName] = "the one configuration of a matrix without axes"
	}
	for _, inc := range m.Include {
		if by := names[inc.Name]; by != "" {
			problems.add(inc.Pos, "give each configuration its own name", "the name %q is taken by %s", inc.Name, by)
		} else {
			names[inc.Name] = fmt.Sprintf("the configuration on line %d", inc.Pos.Line)
		}
		before := len(*problems)
		picked := ix.choice(m.Axes, inc.Labels, inc.Places, inc.Pos, "at", problems)
		if len(*problems) > before {
			continue // a mistyped axis would be reported a second time as missing
		}
		set := map[target]bool{}
		for _, s := range inc.Set {
			set[target{s.Target, s.Name}] = true
			if s.Target == Image || s.Target == Instance {
				set[target{Image, ""}], set[target{Instance, ""}] = true, true
			}
		}
		for i, a := range m.Axes {
			if picked[i] == Any && len(a.Values) > 0 && !covered(a, set) {
				problems.add(inc.Pos, "name one of "+valueNames(a)+" in at, or set what the axis sets",
					"%q does not say which value of the axis %q it takes", inc.Name, a.Name)
			}
		}
	}
}

// covered says whether set decides everything that any value of the axis could.
func covered(a Axis, set map[target]bool) bool {
	any := false
	for _, v := range a.Values {
		for _, s := range v.Settings {
			any = true
			if !set[target{s.Target, s.Name}] {
				return false
			}
		}
	}
	return any
}

func (m Matrix) checkBaseline(ix index, problems *Problems) {
	b := m.Baseline
	if len(b.Labels) == 0 {
		return
	}
	before := len(*problems)
	picked := ix.choice(m.Axes, b.Labels, b.Places, b.Pos, "the baseline", problems)
	if len(*problems) > before {
		return
	}
	for i, a := range m.Axes {
		if picked[i] == Any && len(a.Values) > 0 {
			problems.add(b.Pos, "name one of "+valueNames(a), "the baseline does not say which value of the axis %q it takes", a.Name)
		}
	}
}

func valueNames(a Axis) string {
	names := make([]string, 0, len(a.Values))
	for _, v := range a.Values {
		names = append(names, v.Label)
	}
	return list(names)
}
