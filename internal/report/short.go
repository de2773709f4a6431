package report

import (
	"fmt"
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

// closing says in one sentence which configuration of a level is best.
func (t Table) closing(l Level) string {
	head := l.Name
	if len(l.Marks) > 0 {
		head += " (" + strings.Join(l.Marks, ", ") + ")"
	}
	best, ok := bestOf(l)
	if !ok {
		return head + ": " + nothingRanked
	}
	to := ""
	if t.against() != "" {
		to = " to " + t.against()
	}
	return fmt.Sprintf("%s: best is %s, %s output tok/s%s", head, best.Name, number(best.Figures.Output.Median), t.worth(l, to))
}

const nothingRanked = "nothing that could be ranked"

func bestOf(l Level) (Row, bool) {
	if len(l.Rows) == 0 || l.Rows[0].Rank == 0 {
		return Row{}, false
	}
	return l.Rows[0], true
}

// worth says by how much the best row of a level is better and how sure that
// is. to names what it is compared with, where that is not said elsewhere.
func (t Table) worth(l Level, to string) string {
	best := l.Rows[0]
	var s string
	switch d := best.Delta; {
	case d != nil:
		s = ", " + difference(*d, to)
	case best.Baseline && t.against() != "":
		s = fmt.Sprintf(", %s itself (n = %d)", t.against(), best.N)
		if len(l.Rows) > 1 && l.Rows[1].Delta != nil && onlyBaseline(l) {
			s += "; next " + difference(*l.Rows[1].Delta, "")
		}
	case t.against() != "":
		s = fmt.Sprintf(" (n = %d); no Δ: %s has no valid figure here", best.N, t.against())
	default:
		s = fmt.Sprintf(" (n = %d)", best.N)
	}
	if best.Verdict != "valid" {
		s += "; " + best.Verdict + ", see the footnotes"
	}
	return s
}

// onlyBaseline tells that every Δ of a level is to the same row.
func onlyBaseline(l Level) bool {
	n := 0
	for _, r := range l.Rows {
		if r.Baseline {
			n++
		}
	}
	return n == 1
}

func difference(d Delta, to string) string {
	s := fmt.Sprintf("%s%s (n = %d/%d)", signed(d.Percent), to, d.N, d.BaselineN)
	switch {
	case d.Hosts:
		s += " †"
	case d.unproven():
		s += "; ranges overlap"
	}
	return s
}

// single tells that a side has one run: its range is unknown.
func (d Delta) single() bool { return d.N < 2 || d.BaselineN < 2 }

// unproven tells that the ranges of both sides are known and overlap.
func (d Delta) unproven() bool { return !d.single() && d.Overlap }

// cautions say once what the differences of a table are worth.
func cautions(levels []Level) []string {
	any := func(is func(Delta) bool) bool {
		return slices.ContainsFunc(levels, func(l Level) bool {
			return slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Delta != nil && is(*r.Delta) })
		})
	}
	var list []string
	if any(Delta.single) {
		list = append(list, "Where an n is 1 there is no interval: a difference may be noise.")
	}
	if any(Delta.unproven) {
		list = append(list, "Where ranges overlap no difference is shown.")
	}
	if any(func(d Delta) bool { return !d.single() && !d.Overlap }) {
		list = append(list, "No interval was computed: even ranges that lie apart are of few runs.")
	}
	if any(func(d Delta) bool { return d.Hosts }) {
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
		name, figure, tail := nothingRanked, "", ""
		if best, ok := bestOf(l); ok {
			name, figure, tail = "best: "+spaced(best.Name), number(best.Figures.Output.Median), " output tok/s"+t.worth(l, "")
		}
		levels, names, figures, tails = append(levels, level), append(names, name), append(figures, figure), append(tails, tail)
	}
	left, middle, right, last := min(widest(levels), p.width/4), widest(names), widest(figures), widest(tails)
	beside := left+2+middle+2+right+last <= p.width
	for i := range levels {
		lead := padRight(levels[i], left) + "  "
		if cells(levels[i]) > left {
			p.para(plain, "", levels[i])
			lead = strings.Repeat(" ", left+2)
		}
		rest := padLeft(figures[i], right)
		switch {
		case beside:
			p.line(lead + padRight(names[i], middle) + "  " + rest + tails[i])
		default:
			p.para(plain, lead, names[i])
			p.para(plain, strings.Repeat(" ", left+2+cells(rest)-cells(figures[i])), figures[i]+tails[i])
		}
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
