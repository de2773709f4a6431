package report

import "strings"

// grid writes columns of figures under their heads, beside the names in the
// first column. Where not all fit on a line, the rest follows below, with the
// names again.
func grid(p *printer, rows [][]string) {
	const indent, gap = 2, 2
	widths := columnWidths(rows)
	for from := 1; from < len(widths); {
		to, used := from, indent+widths[0]
		for to < len(widths) && (to == from || used+gap+widths[to] <= p.width) {
			used += gap + widths[to]
			to++
		}
		for k, row := range rows {
			line := strings.Repeat(" ", indent) + padRight(row[0], widths[0])
			for i := from; i < to; i++ {
				line += strings.Repeat(" ", gap) + padLeft(row[i], widths[i])
			}
			s := plain
			if k == 0 {
				s = dim
			}
			p.line(p.paint(s, line))
		}
		from = to
	}
}

// columnWidths are the cells that the columns of rows need.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	return widths
}
