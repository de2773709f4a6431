package report

import (
	"fmt"
	"strings"
)

func (t Table) level(p *printer, l Level) {
	head := l.Heading
	if len(l.Marks) > 0 {
		head += " · " + strings.Join(l.Marks, " · ")
	}
	p.para(bold, "", head)
	groups := groupsOf(columns(t, l), l.Rows)
	var names []string
	nameWidth, markWidth, rankWidth := cells("configuration"), 0, 1
	for _, r := range l.Rows {
		names = append(names, title(r))
		nameWidth = max(nameWidth, cells(title(r)))
		markWidth = max(markWidth, cells(mark(r)))
		rankWidth = max(rankWidth, cells(rankOf(r)))
	}
	lead := rankWidth + 1
	if markWidth > 0 {
		lead += markWidth + 1
	}
	nameWidth = fitName(groups, lead, nameWidth, p.width)
	blocks := pack(groups, lead+nameWidth, p.width)
	p.line(p.paint(dim, strings.Repeat("─", max(lead+nameWidth+widest(blocks), min(cells(head), p.width)))))
	for i, block := range blocks {
		if i > 0 {
			p.line("")
		}
		above, below := strings.Repeat(" ", lead+nameWidth), padLeft("#", rankWidth)+strings.Repeat(" ", lead-rankWidth)+padRight("configuration", nameWidth)
		for _, g := range block {
			above += wide + padLeft(g.name, g.width())
			below += wide + g.join(g.heads)
		}
		p.line(p.paint(dim, strings.TrimRight(above, " ")))
		p.line(p.paint(dim, strings.TrimRight(below, " ")))
		for k, r := range l.Rows {
			if i > 0 && r.Verdict == "" {
				continue // its reason stands in the first block
			}
			t.row(p, r, k, block, names[k], [3]int{rankWidth, markWidth, nameWidth})
		}
	}
	for _, f := range l.Footnotes {
		p.para(gradeStyle(f.Grade), fmt.Sprintf("  %s%d ", gradeMark(f.Grade), f.Number), f.Grade+", "+f.Code+": "+f.Text)
	}
}

// fitName chooses how wide names may be: as wide as they are when that costs
// no further block, else the least that needs the fewest blocks, and not under
// a quarter of the line.
func fitName(groups []group, lead, longest, width int) int {
	least := min(longest, max(width/4, cells("configuration")))
	fewest := len(pack(groups, lead+least, width))
	for n := longest; n > least; n-- {
		if len(pack(groups, lead+n, width)) <= fewest {
			return n
		}
	}
	return least
}

func (t Table) row(p *printer, r Row, k int, block []group, name string, widths [3]int) {
	s := plain
	switch {
	case r.Verdict == "invalid" || r.Failed:
		s = red
	case r.Rank == 1:
		s = green
	}
	lead := padLeft(rankOf(r), widths[0]) + " "
	if widths[1] > 0 {
		lead += padRight(mark(r), widths[1]) + " "
	}
	parts := wrap(name, widths[2])
	var right []string
	if r.Verdict == "" {
		right = wrap(r.Reason, p.width-cells(lead)-widths[2]-len(wide))
	} else {
		figures := make([]string, len(block))
		for i, g := range block {
			figures[i] = g.join(g.rows[k])
		}
		right = []string{strings.Join(figures, wide)}
	}
	for i := range max(len(parts), len(right)) {
		if i > 0 {
			lead = strings.Repeat(" ", cells(lead))
		}
		line := lead + padRight(at(parts, i), widths[2]) + wide + at(right, i)
		p.line(p.paint(s, strings.TrimRight(line, " ")))
	}
}

// at is the i-th line of a cell, empty below its end.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
