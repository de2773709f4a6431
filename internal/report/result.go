package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/stats"
)

// result is what a level says in short.
type result struct {
	claim  string // "best", "no difference shown"
	names  []string
	figure string // output tok/s
	tail   string // what that is worth
}

// nothingRanked is the claim of a level without a result.
const nothingRanked = "nothing that could be ranked"

// betweenNames stands between configurations, whose names have commas.
const betweenNames = " | "

// maxNames bounds the names of a tie; the table has them all.
const maxNames = 4

// resultOf claims a best configuration only where the others are farther from
// it than the practical threshold and their ranges lie apart. to names what
// differences are to, where that is not said elsewhere.
func (t Table) resultOf(l Level, to string) result {
	if len(l.Rows) == 0 || l.Rows[0].Rank == 0 {
		return result{claim: nothingRanked}
	}
	if equal := tied(l); len(equal) > 0 {
		return tieOf(equal, to)
	}
	best := l.Rows[0]
	r := result{claim: "best", names: []string{best.Name}, figure: stats.Figure(best.Figures.Output.Median), tail: t.worth(l, to)}
	if len(l.Rows) < 2 || l.Rows[1].Rank == 0 {
		r.claim = "only"
	}
	return r
}

// tieOf names the rows that share the first place, and what is known of all of
// them.
func tieOf(rows []Row, to string) result {
	r := result{claim: "no difference shown"}
	low, high := rows[0].N, rows[0].N
	for i, row := range rows {
		if low, high = min(low, row.N), max(high, row.N); i < maxNames {
			r.names = append(r.names, row.Name)
		}
	}
	if more := len(rows) - maxNames; more > 0 {
		r.names = append(r.names, fmt.Sprintf("%d more", more))
	}
	least, most := *rows[len(rows)-1].Figures.Output.Median, *rows[0].Figures.Output.Median
	if r.figure = stats.Digits(most); stats.DigitsAs(least, most) != r.figure {
		r.figure = between(least, most)
	}
	n := fmt.Sprintf("n = %d/%d", rows[0].N, rows[1].N)
	switch {
	case len(rows) == 2:
	case low == high:
		n = fmt.Sprintf("n = %d each", low)
	default:
		n = fmt.Sprintf("n = %d to %d", low, high)
	}
	r.tail = fmt.Sprintf(" (%s, %s)", whyTied(rows), n)
	if d := deltasOf(rows); d != "" {
		r.tail += "; " + d + to
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Verdict != "valid" }) {
		r.tail += "; some suspect, see the footnotes"
	}
	return r
}

// deltasOf is the least and the greatest difference of rows that all differ
// from one other row; else nothing.
func deltasOf(rows []Row) string {
	for _, r := range rows {
		if d, first := r.Delta, rows[0].Delta; d == nil || d.Unproven || d.Hosts || d.N != first.N || d.BaselineN != first.BaselineN {
			return ""
		}
	}
	return fmt.Sprintf("%s to %s (n = %d/%d each)", percent(rows[len(rows)-1].Delta.Percent), signed(rows[0].Delta.Percent), rows[0].Delta.N, rows[0].Delta.BaselineN)
}

// closing is a level's result in one sentence.
func (t Table) closing(l Level) string {
	head := l.Name
	if len(l.Marks) > 0 {
		head += " (" + strings.Join(l.Marks, ", ") + ")"
	}
	to := ""
	if t.against() != "" {
		to = " to " + t.against()
	}
	r := t.resultOf(l, to)
	s := head + ", " + r.claim
	if len(r.names) > 0 {
		s += ": " + strings.Join(r.names, betweenNames) + ", " + r.figure + " output tok/s" + r.tail
	}
	return s
}

// worth says by how much the best row of a level is better and how sure that
// is.
func (t Table) worth(l Level, to string) string {
	best := l.Rows[0]
	var s string
	switch d := best.Delta; {
	case d != nil:
		s = ", " + difference(*d, to)
	case best.SameRuns:
		s = fmt.Sprintf(", the same runs as on %s (n = %d)", t.against(), best.N)
	case best.Baseline && t.against() != "":
		s = fmt.Sprintf(", %s itself (n = %d)", t.against(), best.N)
		if t.changes {
			s = fmt.Sprintf(" (n = %d)", best.N) // its name says so
		}
		if len(l.Rows) > 1 && l.Rows[1].Delta != nil && onlyBaseline(l) {
			s += "; next " + l.Rows[1].Name + " " + difference(*l.Rows[1].Delta, "")
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
	return strings.TrimRight(fmt.Sprintf("%s%s (n = %d/%d) %s", signed(d.Percent), to, d.N, d.BaselineN, d.marks()), " ")
}
