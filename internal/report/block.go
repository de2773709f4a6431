package report

import (
	"fmt"
	"strings"
)

// level writes the block of one level: its load, its rows, its footnotes.
func (t Table) level(p *printer, s layout, i int) {
	l := t.Levels[i]
	head := l.Heading
	if len(l.Marks) > 0 {
		head += " · " + strings.Join(l.Marks, " · ")
	}
	p.para(bold, "", head)
	p.rule(max(s.width(), cells(head)))
	if t.Goodput == "" && l.Goodput != "" {
		p.para(dim, "  ", meaningOfGoodput(l.Goodput))
	}
	for _, line := range s.lines {
		p.line(p.paint(dim, strings.TrimRight(strings.Repeat(" ", s.lead)+s.line(i, line, func(g group) string { return padLeft(g.name, g.width(s.narrow)) }), " ")))
		p.line(p.paint(dim, strings.Repeat(" ", s.lead)+s.line(i, line, func(g group) string { return g.join(g.heads, s.narrow) })))
	}
	for k := range l.Rows {
		t.row(p, s, i, k)
	}
	for _, f := range l.Footnotes {
		p.para(gradeStyle(f.Grade), fmt.Sprintf("  [%d] ", f.Number), f.Grade+", "+f.Code+": "+f.Text)
	}
}

// reasonLead sets off the reason for having no figures from the name above it.
const reasonLead = 4

// row writes one row: its name, and beside or below it its figures, or why
// there are none.
func (t Table) row(p *printer, s layout, level, k int) {
	r := t.Levels[level].Rows[k]
	style := plain
	switch {
	case r.Verdict == "invalid" || r.Failed:
		style = red
	case r.Rank == 1 && !r.Tied:
		style = green
	}
	lead := padLeft(place(r), s.rank) + " "
	var figures []string
	if r.Verdict == "" {
		figures = wrap(r.Reason, p.width-max(s.lead, reasonLead))
	}
	for _, line := range s.lines {
		if r.Verdict != "" {
			figures = append(figures, s.line(level, line, func(g group) string { return g.join(g.rows[k], s.narrow) }))
		}
	}
	if s.name > 0 {
		lead += padRight(label(t, r), s.name) + strings.Repeat(" ", s.wide)
	} else {
		p.para(style, lead, label(t, r))
		lead = strings.Repeat(" ", s.lead)
		if r.Verdict == "" {
			lead = strings.Repeat(" ", reasonLead)
		}
	}
	for _, line := range figures {
		p.line(p.paint(style, strings.TrimRight(lead+line, " ")))
		lead = strings.Repeat(" ", cells(lead))
	}
}
