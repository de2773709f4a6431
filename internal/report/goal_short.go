package report

import (
	"fmt"
	"strings"
)

// namedMeeting bounds the configurations that a goal is said to be met by.
const namedMeeting = 3

// short says a goal in one sentence: who meets it, else who comes nearest.
func (g Goal) short() string {
	var met, missed []GoalRow
	failed := 0
	for _, r := range g.Rows { // best first
		switch {
		case r.Met == nil && r.failed:
			failed++
		case r.Met == nil:
		case *r.Met:
			met = append(met, r)
		default:
			missed = append(missed, r)
		}
	}
	s, measured, rest := g.Text+": ", len(met)+len(missed), g.rest(failed)
	switch n := len(met); {
	case n > 0 && n == len(g.Rows):
		s += "met by all"
	case n > 0:
		var names []string
		for _, r := range met[:min(n, namedMeeting)] {
			names = append(names, r.Name)
		}
		if more := n - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		s += fmt.Sprintf("met by %d of %s: %s%s", n, measuredOf(measured, rest), strings.Join(names, betweenNames), rest)
	case len(missed) > 0:
		s += fmt.Sprintf("met by none of %s; nearest %s, %s%s", measuredOf(measured, rest), missed[0].Name, goalVerdict(missed[0]), rest)
	default:
		s += fmt.Sprintf("no figure of any of %d%s", len(g.Rows), rest)
	}
	return s
}

// measuredOf is a number of rows, which are not all where there is a rest.
func measuredOf(n int, rest string) string {
	if rest == "" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("the %d measured", n)
}

// rest says how many rows have no figure, and of how many something went wrong.
func (g Goal) rest(failed int) string {
	none := 0
	for _, r := range g.Rows {
		if r.Met == nil {
			none++
		}
	}
	s := ""
	if failed > 0 {
		s = fmt.Sprintf("; %d failed", failed)
	}
	if none > failed {
		s += fmt.Sprintf("; %d not measured", none-failed)
	}
	return s
}

// goalsInShort are the goals of a table, a sentence each.
func (t Table) goalsInShort() []string {
	var list []string
	for _, g := range t.Goals {
		list = append(list, g.short())
	}
	return list
}
