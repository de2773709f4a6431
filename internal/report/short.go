package report

import (
	"slices"
	"strings"
)

// against says what rows are compared with; empty: with nothing.
func (t Table) against() string {
	switch {
	case len(t.Sides) > 1:
		return "side A"
	case t.Baseline != "":
		return "the baseline"
	default:
		return ""
	}
}

// cautions say once what the differences of a table are worth.
func cautions(levels []Level) []string {
	single, apart, hosts := false, false, false
	for _, l := range levels {
		ranked := slices.DeleteFunc(slices.Clone(l.Rows), func(r Row) bool { return r.Rank == 0 })
		for i, r := range ranked {
			single = single || len(ranked) > 1 && r.N < 2
			apart = apart || i > 0 && r.N > 1 && ranked[0].N > 1 && !r.Tied
			hosts = hosts || r.Delta != nil && r.Delta.Hosts
		}
	}
	var list []string
	if single {
		list = append(list, "Where an n is 1 there is no interval: a difference may be noise.")
	}
	if apart {
		list = append(list, "No interval was computed: even ranges that lie apart are of few runs.")
	}
	if hosts {
		list = append(list, "†: measured on different hosts, the difference is of these too.")
	}
	return list
}

// inShort ends a report with the best of each level: a line each where that
// fits for all, else two.
func (t Table) inShort(p *printer) {
	if len(t.Levels) == 0 {
		return
	}
	p.line("")
	head := "In short"
	if to := t.against(); to != "" {
		head += " (% to " + to + ")"
	}
	p.para(bold, "", head)
	var levels, names, figures, tails []string
	for _, l := range t.Levels {
		level := l.Name
		for _, m := range l.Marks {
			if !slices.Contains(t.Marks, m) {
				level += " [" + m + "]"
			}
		}
		r := t.resultOf(l, "")
		name, tail := r.claim, ""
		if len(r.names) > 0 {
			name, tail = name+": "+spaced(strings.Join(r.names, betweenNames)), " output tok/s"+spaced(r.tail)
		}
		levels, names, figures, tails = append(levels, level), append(names, name), append(figures, r.figure), append(tails, tail)
	}
	left, middle, right, last := min(widest(levels), p.width/4), widest(names), widest(figures), widest(tails)
	beside := left+2+middle+2+right+last <= p.width
	for i := range levels {
		lead := padRight(levels[i], left) + "  "
		if cells(levels[i]) > left {
			p.para(plain, "", levels[i])
			lead = strings.Repeat(" ", left+2)
		}
		if beside {
			p.line(lead + padRight(names[i], middle) + "  " + padLeft(figures[i], right) + tails[i])
			continue
		}
		p.para(plain, lead, names[i])
		if tails[i] != "" {
			p.para(plain, strings.Repeat(" ", left+2), figures[i]+tails[i])
		}
	}
	for i, goal := range t.goalsInShort() {
		lead := ""
		if i == 0 {
			lead = "goals"
		}
		p.para(plain, padRight(lead, max(left, 5))+"  ", spaced(goal))
	}
	for _, c := range t.Cautions {
		p.para(plain, "  ", c)
	}
}

func widest(texts []string) int {
	w := 0
	for _, s := range texts {
		w = max(w, cells(s))
	}
	return w
}
