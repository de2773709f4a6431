package main

import (
	"bufio"
	"fmt"
	"strings"

	"sweep/internal/sweep"
)

// How many dropped combinations of one rule are listed when not everything is
// asked for; a few more are listed all the same, since a line in their place
// would save little.
const (
	shownDropped = 3
	spareDropped = 3
)

func writePlanRuns(out *bufio.Writer, p *sweep.Plan, byID map[string]*sweep.Configuration, o planTextOptions) {
	fmt.Fprintf(out, "\n%6s %6s  %-11s %5s %s\n", "run", "repeat", "id", "port", "configuration")
	indent := strings.Repeat(" ", planColumn)
	for i := 0; i < len(p.Runs); i++ {
		r := p.Runs[i]
		if n := sameOrder(p.Runs, i); n > 1 && !o.All {
			last := p.Runs[i+n-1]
			planWrap(out, fmt.Sprintf("%6s %6d  ", fmt.Sprintf("%d–%d", r.Ordinal, last.Ordinal), r.Repeat), indent,
				fmt.Sprintf("the same %d again, ports %d to %d", n, r.Port, last.Port))
			i += n - 1
			continue
		}
		c, known := byID[r.Config]
		name := "?"
		if known {
			name = c.Name
		}
		planWrap(out, fmt.Sprintf("%6d %6d  %-11s %5d ", r.Ordinal, r.Repeat, r.Config, r.Port), indent, name)
		if len(r.Skip) > 0 && r.Repeat == 1 { // the other repeats leave out the same
			planWrap(out, indent, indent, "without "+planSkips(r.Skip))
		}
		if o.Commands && known {
			// One line, however long: a wrapped command cannot be pasted.
			fmt.Fprint(out, c.Shell(r.Argv), "\n\n")
		}
	}
}

// sameOrder is how many runs from i on make a later repeat that has exactly the
// configurations of the first in the same order; 0 when they do not.
func sameOrder(runs []sweep.PlannedRun, i int) int {
	if runs[i].Repeat == 1 || runs[i-1].Repeat == runs[i].Repeat {
		return 0
	}
	n := 0
	for i+n < len(runs) && runs[i+n].Repeat == runs[i].Repeat {
		if n >= len(runs) || runs[i+n].Config != runs[n].Config || runs[n].Repeat != 1 {
			return 0
		}
		n++
	}
	return n
}

// planSkips says which levels a run leaves out; runs of one cap have one reason.
func planSkips(skips []sweep.Skipped) string {
	names := make([]string, len(skips))
	for i, s := range skips {
		names[i] = s.Name
	}
	return strings.Join(names, ", ") + ": " + skips[len(skips)-1].Why
}

// writePlanDropped lists dropped combinations under the rule that dropped them;
// the rules come in the order of their first victim. A long list is cut short
// unless everything is asked for: the plan as JSON always has all.
func writePlanDropped(out *bufio.Writer, p *sweep.Plan, o planTextOptions) {
	if len(p.Dropped) == 0 {
		return
	}
	type rule struct {
		line, column int
		text         string
	}
	var order []rule
	names := map[rule][]string{}
	for _, d := range p.Dropped {
		r := rule{d.Pos.Line, d.Pos.Column, d.Rule}
		if names[r] == nil {
			order = append(order, r)
		}
		names[r] = append(names[r], d.Name)
	}
	fmt.Fprintf(out, "\n%s dropped\n", planCount(len(p.Dropped), "combination"))
	for _, r := range order {
		what := fmt.Sprintf("%s:%d:%d: %s drops", p.File, r.line, r.column, r.text)
		if r.line == 0 {
			what = r.text + "; left out:" // no rule of the file
		}
		planWrap(out, "  ", "    ", what)
		list := names[r]
		if !o.All && len(list) > shownDropped+spareDropped {
			list = list[:shownDropped]
		}
		for _, name := range list {
			planWrap(out, "    ", "      ", name)
		}
		if more := len(names[r]) - len(list); more > 0 {
			fmt.Fprintf(out, "    … and %d more; --all lists them\n", more)
		}
	}
}
