package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"sweep/internal/sweep"
)

// writePlanRuns lists the runs in order, each by what it changes of the
// baseline.
func writePlanRuns(out *bufio.Writer, p *sweep.Plan, byID map[string]*sweep.Configuration, o planTextOptions) {
	head := "configuration"
	if len(p.Configurations) > 1 {
		head += ": what it changes of the baseline"
	}
	fmt.Fprintf(out, "\n%6s %6s  %-11s %5s %s\n", "run", "repeat", "id", "port", head)
	names := make(map[string]string, len(p.Configurations))
	for i, d := range p.Differences() {
		text := d.Name
		if d.Recipe != "" {
			text += " = " + d.Recipe
		}
		names[p.Configurations[i].ID] = text
	}
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
			name = names[c.ID]
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

// shownRule is how long a rule may be to stand in the summary of what it drops.
const shownRule = 60

// writePlanRule says on a line each what a long rule is about: the comment above
// it in the file, if there is one, and how it begins.
func writePlanRule(out *bufio.Writer, p *sweep.Plan, line, column int, text string) {
	i := slices.IndexFunc(p.DropRules, func(r sweep.DropRule) bool { return r.Pos.Line == line && r.Pos.Column == column })
	if i >= 0 {
		if r := p.DropRules[i]; r.When != "" {
			text = "when: " + r.When
		}
		if comment := p.DropRules[i].Comment; comment != "" {
			planWrap(out, "    # ", "    # ", comment)
		}
	}
	fmt.Fprintf(out, "    %s\n", runewidth.Truncate(sweep.Printable(text), planWidth-4, "…"))
}

// writePlanDropped says what rules dropped, the rules in the order of their
// first victim: a line each, or with everything asked for each combination. The
// plan as JSON always has all.
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
	head := planCount(len(p.Dropped), "combination") + " dropped"
	if !o.All {
		head += "; --all lists them"
	}
	fmt.Fprintf(out, "\n%s\n", head)
	for _, r := range order {
		where := fmt.Sprintf("%s:%d:%d", p.File, r.line, r.column)
		list := names[r]
		switch {
		case o.All && r.line == 0:
			planWrap(out, "  ", "    ", r.text+"; left out:") // no rule of the file
		case o.All:
			planWrap(out, "  ", "    ", where+": "+r.text+" drops")
		case r.line == 0:
			planWrap(out, "  ", "    ", fmt.Sprintf("%d: %s", len(list), r.text))
		case len(r.text) > shownRule:
			planWrap(out, "  ", "    ", fmt.Sprintf("%d by the rule at %s", len(list), where))
			writePlanRule(out, p, r.line, r.column, r.text)
		default:
			planWrap(out, "  ", "    ", fmt.Sprintf("%d by %s: %s", len(list), where, r.text))
		}
		if o.All {
			for _, name := range list {
				planWrap(out, "    ", "      ", name)
			}
		}
	}
}
