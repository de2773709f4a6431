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
	for _, r := range g.Rows { // best first
		switch {
		case r.Met == nil:
		case *r.Met:
			met = append(met, r)
		default:
			missed = append(missed, r)
		}
	}
	s := g.Text + ": "
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
		s += fmt.Sprintf("met by %d of %d: %s", n, len(g.Rows), strings.Join(names, betweenNames))
	case len(missed) > 0:
		s += fmt.Sprintf("met by none of %d; nearest %s, %s", len(g.Rows), missed[0].Name, goalVerdict(missed[0]))
	default:
		s += fmt.Sprintf("no figure of any of %d", len(g.Rows))
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
