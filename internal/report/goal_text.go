package report

import (
	"fmt"
	"strconv"
	"strings"

	"sweep/internal/stats"
)

// goals writes a line a configuration under each goal: the figure, what it says
// of the goal, and whose it is, last because names are long.
func (t Table) goals(p *printer) {
	if len(t.Goals) == 0 {
		return
	}
	p.line("")
	head := strings.Join(append([]string{"Goals: medians over the valid runs"}, t.Marks...), " · ")
	p.para(bold, "", head)
	var figures, runs, words []string
	for _, g := range t.Goals {
		for _, r := range g.Rows {
			figures, runs, words = append(figures, stats.Figure(r.Figure.Median)), append(runs, goalRuns(r)), append(words, goalVerdict(r))
		}
	}
	figure, n, word := widest(figures), widest(runs), widest(words)
	p.rule(cells(head))
	i := 0
	for _, g := range t.Goals {
		p.para(plain, "", g.Text)
		for _, r := range g.Rows {
			style := plain
			if r.Met != nil && *r.Met {
				style = green
			}
			lead := "  " + padLeft(figures[i], figure) + "  " + padRight(runs[i], n) + "  " + padRight(words[i], word) + "  "
			p.para(style, lead, spaced(r.title()))
			i++
		}
	}
}

// goalRuns is the n of a figure, with what was planned where that is more.
func goalRuns(r GoalRow) string {
	switch {
	case r.Met == nil:
		return ""
	case r.Planned > r.Figure.N:
		return fmt.Sprintf("n = %d of %d", r.Figure.N, r.Planned)
	default:
		return fmt.Sprintf("n = %d", r.Figure.N)
	}
}

// goalVerdict says whether a goal is met, and how far it is.
func goalVerdict(r GoalRow) string {
	switch {
	case r.Met == nil:
		return unknown
	case *r.Met:
		return "met"
	case r.MissedBy == nil:
		return "missed"
	case *r.MissedBy < 0.05:
		return "missed by < 0.1 %"
	case *r.MissedBy < 1000:
		return "missed by " + strconv.FormatFloat(*r.MissedBy, 'f', 1, 64) + " %"
	default:
		return "missed by " + stats.Digits(*r.MissedBy) + " %"
	}
}

// title is the row's name with what a reader of its figure must know.
func (r GoalRow) title() string {
	s := title(Row{Name: r.Name, Marks: r.Marks})
	if r.Suspect {
		s += " · suspect, see the level"
	}
	if r.Reason != "" {
		s += " · " + r.Reason
	}
	return s
}

func (t Table) markdownGoals(m *mdWriter) {
	if len(t.Goals) == 0 {
		return
	}
	m.heading("Goals")
	m.line("Medians over the valid runs.")
	for _, g := range t.Goals {
		m.line("")
		m.line("### " + markdown(g.Text))
		m.line("")
		m.row([]string{"figure", "n", "goal", "configuration"})
		m.row([]string{"--:", ":--", ":--", ":--"})
		for _, r := range g.Rows {
			m.row([]string{stats.Figure(r.Figure.Median), strings.TrimPrefix(goalRuns(r), "n = "), markdown(goalVerdict(r)), markdown(r.title())})
		}
	}
}
