package report

import (
	"strings"

	"sweep/internal/stats"
)

// roomForTimes is the width that E2E times need beside the record of tokens.
const roomForTimes = 72

// recordColumns are the figures of a level for which there is no room beside
// its results.
func recordColumns(l Level, beside form) []column {
	var list []column
	if !beside.e2e {
		unit, per := timeUnit(l, func(f Figures) Figure { return f.E2Ep99 })
		time := func(get func(Figures) Figure) func(Row) string {
			return func(r Row) string { return stats.Figure(scaled(get(r.Figures).Median, per)) + " " + unit }
		}
		list = append(list,
			column{head: "E2E p50", cell: time(func(f Figures) Figure { return f.E2Ep50 })},
			column{head: "E2E p99", cell: time(func(f Figures) Figure { return f.E2Ep99 })})
	}
	return append(list,
		column{head: "input tok/s", cell: func(r Row) string { return stats.Figure(r.Figures.Input.Median) }},
		column{head: "total tok/s", cell: func(r Row) string { return stats.Figure(r.Figures.Total.Median) }})
}

func figuresOfRecord(l Level, r Row, beside form) []string {
	var figures []string
	for _, c := range recordColumns(l, beside) {
		figures = append(figures, c.cell(r))
	}
	return figures
}

// record writes the figures of all levels for which there is no room beside the
// results in a place of their own: nobody takes input or total tokens for these.
func (t Table) record(p *printer, beside form) {
	levelWidth, nameWidth := 0, 0
	var heads, widths = []string{}, []int{}
	for i, c := range recordColumns(Level{}, beside) {
		heads, widths = append(heads, c.head), append(widths, cells(c.head))
		for _, l := range t.Levels {
			for _, r := range measuredRows(l.Rows) {
				widths[i] = max(widths[i], cells(recordColumns(l, beside)[i].cell(r)))
				levelWidth, nameWidth = max(levelWidth, cells(l.Name)), max(nameWidth, cells(recordLabel(r)))
			}
		}
	}
	if nameWidth == 0 {
		return
	}
	line := func(texts []string) string {
		s := ""
		for i, text := range texts {
			s += "  " + padLeft(text, widths[i])
		}
		return s
	}
	head := "Input and total tokens, for the record: not comparable with output tok/s"
	if !beside.e2e {
		head = "E2E; input and total tokens, for the record: not comparable with output tok/s"
	}
	levelWidth = min(levelWidth, p.width/4)
	room := p.width - levelWidth - 2 - cells(line(heads))
	above := !beside.e2e && nameWidth > room // names have lines of their own
	nameWidth = min(nameWidth, room)
	p.line("")
	p.para(bold, "", head)
	p.rule(max(levelWidth+2+nameWidth+cells(line(heads)), cells(head)))
	p.line(p.paint(dim, padRight(strings.Join(t.Marks, " · "), levelWidth+2+nameWidth)+line(heads)))
	for _, l := range t.Levels {
		name := wrap(l.Name, levelWidth)
		if above {
			p.para(plain, "", l.Name)
		}
		for _, r := range measuredRows(l.Rows) {
			if above {
				p.para(plain, "  ", recordLabel(r))
				p.line(strings.Repeat(" ", levelWidth+2+nameWidth) + line(figuresOfRecord(l, r, beside)))
				continue
			}
			row := wrap(recordLabel(r), nameWidth)
			figures := figuresOfRecord(l, r, beside)
			for i := range max(len(name), len(row)) {
				p.line(padRight(at(name, i), levelWidth) + "  " + padRight(at(row, i), nameWidth) + line(figures))
				figures = nil
			}
			name = nil
		}
	}
}

func recordLabel(r Row) string {
	if r.Verdict == "invalid" {
		return "✗ " + spaced(title(r))
	}
	return spaced(title(r))
}

// at is the i-th line of a cell, empty below its end.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
