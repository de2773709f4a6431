package report

import "strings"

// narrow stands between columns, wide between groups.
const (
	narrow = "  "
	wide   = "   "
)

// group is columns that stand together under one name.
type group struct {
	name   string
	heads  []string
	rows   [][]string
	widths []int
}

func groupsOf(cols []column, rows []Row) []group {
	var groups []group
	for i, c := range cols {
		if i == 0 || cols[i-1].group != c.group {
			groups = append(groups, group{name: c.group, rows: make([][]string, len(rows))})
		}
		g := &groups[len(groups)-1]
		g.heads = append(g.heads, c.head)
		w := cells(c.head)
		for k, r := range rows {
			text := ""
			if r.Verdict != "" {
				text = c.cell(r)
			}
			g.rows[k] = append(g.rows[k], text)
			w = max(w, cells(text))
		}
		g.widths = append(g.widths, w)
	}
	for i := range groups {
		g := &groups[i]
		g.widths[0] += max(0, cells(g.name)-g.width())
	}
	return groups
}

func (g group) width() int {
	w := len(narrow) * (len(g.widths) - 1)
	for _, c := range g.widths {
		w += c
	}
	return w
}

func (g group) join(parts []string) string {
	padded := make([]string, len(parts))
	for i, text := range parts {
		padded[i] = padLeft(text, g.widths[i])
	}
	return strings.Join(padded, narrow)
}

// pack spreads groups over as few blocks as fit beside lead cells in a line of
// width, keeping their order.
func pack(groups []group, lead, width int) [][]group {
	var blocks [][]group
	used := width + 1
	for _, g := range groups {
		w := len(wide) + g.width()
		if used+w > width {
			blocks, used = append(blocks, nil), lead
		}
		last := len(blocks) - 1
		blocks[last], used = append(blocks[last], g), used+w
	}
	return blocks
}

// widest is the width of the widest block beside its lead.
func widest(blocks [][]group) int {
	most := 0
	for _, block := range blocks {
		w := 0
		for _, g := range block {
			w += len(wide) + g.width()
		}
		most = max(most, w)
	}
	return most
}
