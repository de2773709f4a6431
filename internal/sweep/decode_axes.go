package sweep

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/matrix"
	"sweep/internal/sglang"
)

// overridden notes flags of the server that can have no effect, since every
// value of an axis sets them again.
func (s *Spec) overridden() {
	for _, f := range s.Server.Flags {
		for _, a := range s.Axes {
			if len(a.Values) == 0 || slices.ContainsFunc(a.Values, func(v matrix.AxisValue) bool {
				return !slices.ContainsFunc(v.Settings, func(x matrix.Setting) bool { return x.Target == f.Target && x.Name == f.Name })
			}) {
				continue
			}
			s.Warnings = append(s.Warnings, Warning{Pos: f.Pos,
				Text: fmt.Sprintf("%s here has no effect: every value of the axis %s sets it", f.Name, quote(a.Name))})
		}
	}
}

// misspelledAxes names short axes whose flag is written otherwise, where rules
// call them by the right name, and short axes that are no flag of any known
// sglang but nearly one. What rules say of the right name is no mistake then: the
// axis is where the mistake is.
func (s *Spec) misspelledAxes(problems []Problem) []Problem {
	list, _ := sglang.Flags("")
	for _, a := range s.Axes {
		if len(a.Values) == 0 || len(a.Values[0].Settings) != 1 || a.Values[0].Settings[0].Target != matrix.Flag {
			continue
		}
		name, pr := a.Values[0].Settings[0].Name, Problem{Pos: a.Pos, Message: fmt.Sprintf("sglang has no flag %q", a.Name)}
		full, candidates := list.Complete(a.Name)
		switch {
		case name != a.Name && strings.ReplaceAll(a.Name, "_", "-") == name:
			pr.Message = fmt.Sprintf("the axis is called %q", a.Name) // two spellings of one flag, of which rules know one
			full = name
		case name != a.Name && name == full: // completed, but rules do not know that
		case name != a.Name:
			continue // not a short one
		case full != "" || len(candidates) > 0:
			continue
		default:
			if name = matrix.Near(a.Name, list.Names()); name == "" {
				continue
			}
		}
		named := fmt.Sprintf("names the axis %q, which", name)
		about := func(p Problem) bool { return strings.Contains(p.Message, named) }
		if slices.ContainsFunc(problems, about) {
			problems = slices.DeleteFunc(problems, about)
			pr.Message += ", and the rules call this axis " + name
			if strings.ReplaceAll(a.Name, "_", "-") == name {
				pr.Message += ": two spellings of one flag"
			}
		} else if full != "" {
			continue
		}
		pr.Hint = fmt.Sprintf("did you mean %q?", name)
		if strings.ReplaceAll(a.Name, "_", "-") == name {
			pr.Hint = fmt.Sprintf("write %s here, with dashes, as the rules do", name)
		}
		problems = append(problems, pr)
	}
	return problems
}
