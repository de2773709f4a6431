package report

import "strings"

// layout is how the levels of a table are set at one width: all in the same
// columns, so that a page can be read down.
type layout struct {
	wide, narrow int       // cells between groups and between columns of a group
	lead         int       // cells before the figures of a line
	rank         int       // cells of the widest rank
	name         int       // width of the names in front of the figures; 0: a name has a line of its own
	form                   // what stands beside the result
	groups       [][]group // by level
	lines        [][]int   // which groups stand on each line of a row's figures
}

// airy are the spacings in which groups are told apart at a glance, from
// generous to tight; dense is the last resort for one line.
var (
	airy  = []layout{{lead: 2, wide: 3, narrow: 2}, {lead: 2, wide: 2, narrow: 2}, {lead: 2, wide: 2, narrow: 1}}
	dense = []layout{{wide: 2, narrow: 1}, {wide: 1, narrow: 1}}
)

// form says which figures are columns. Those that are none stand in a place of
// their own below, for the record.
type form struct {
	record bool // input and total tokens
	e2e    bool
}

// arrange finds the fewest lines a row that fit and can be read: one with
// everything, one without input and total, two with the name above the
// figures, and on a very narrow terminal as many as the figures need. Where
// goodput makes a row too wide, E2E times leave it.
func arrange(t Table, width int) layout {
	base := layout{}
	longest := 0
	for _, l := range t.Levels {
		for _, r := range l.Rows {
			longest = max(longest, cells(label(t, r)))
			base.rank = max(base.rank, cells(place(r)))
		}
	}
	narrow := form{e2e: !hasGoodput(t) || width < roomForTimes}
	for _, try := range []struct {
		beside   bool
		form     form
		spacings []layout
	}{{true, form{true, true}, airy}, {true, form{e2e: true}, airy}, {false, form{e2e: true}, airy}, {false, narrow, airy}, {false, narrow, dense}} {
		base.form, base.groups = try.form, groupsOf(t, try.form)
		for _, gaps := range try.spacings {
			if s := base.with(gaps, try.beside, longest, width); len(s.lines) < 2 {
				return s
			}
		}
	}
	base.form = form{e2e: true}
	base.groups = groupsOf(t, base.form)
	return base.with(airy[len(airy)-1], false, longest, width)
}

// with sets the lines with the gaps of another layout, the names, at most
// longest cells, beside the figures or above them.
func (s layout) with(gaps layout, beside bool, longest, width int) layout {
	s.wide, s.narrow, s.lead = gaps.wide, gaps.narrow, gaps.lead
	if beside {
		s.name, s.lead = longest, s.rank+1+longest+s.wide
	}
	s.pack(width)
	return s
}

// pack spreads the groups over as few lines as width allows, in their order.
func (s *layout) pack(width int) {
	if len(s.groups) == 0 {
		return
	}
	used := 0
	for i, g := range s.groups[0] {
		w := g.width(s.narrow)
		if i == 0 || used+s.wide+w > width {
			s.lines, used = append(s.lines, nil), s.lead+w
		} else {
			used += s.wide + w
		}
		last := len(s.lines) - 1
		s.lines[last] = append(s.lines[last], i)
	}
}

// width is that of the widest line.
func (s layout) width() int {
	most := 0
	for _, line := range s.lines {
		w := s.lead - s.wide
		for _, i := range line {
			w += s.wide + s.groups[0][i].width(s.narrow)
		}
		most = max(most, w)
	}
	return most
}

// line joins one piece of each group of a line.
func (s layout) line(level int, which []int, piece func(group) string) string {
	var parts []string
	for _, i := range which {
		parts = append(parts, piece(s.groups[level][i]))
	}
	return strings.Join(parts, strings.Repeat(" ", s.wide))
}

// group is columns that stand together under one name.
type group struct {
	name   string
	heads  []string
	rows   [][]string
	widths []int
}

func (g group) width(narrow int) int {
	w := -narrow
	for _, c := range g.widths {
		w += narrow + c
	}
	return max(w, cells(g.name))
}

func (g group) join(parts []string, narrow int) string {
	padded := make([]string, len(parts))
	for i, text := range parts {
		padded[i] = padLeft(text, g.widths[i])
	}
	return padLeft(strings.Join(padded, strings.Repeat(" ", narrow)), g.width(narrow))
}

// groupsOf sets the figures of every level, in columns as wide as the widest
// level needs them.
func groupsOf(t Table, with form) [][]group {
	var levels [][]group
	for _, l := range t.Levels {
		var groups []group
		for i, c := range textColumns(t, l, with) {
			if i == 0 || c.group == "" || c.group != groups[len(groups)-1].name {
				groups = append(groups, group{name: c.group, rows: make([][]string, len(l.Rows))})
			}
			g := &groups[len(groups)-1]
			g.heads = append(g.heads, c.head)
			w := cells(c.head)
			for k, r := range l.Rows {
				text := ""
				if r.Verdict != "" {
					text = c.cell(r)
				}
				g.rows[k] = append(g.rows[k], text)
				w = max(w, cells(text))
			}
			g.widths = append(g.widths, w)
		}
		levels = append(levels, groups)
	}
	for i := range levels {
		for j := range levels[i] {
			for _, other := range levels {
				for k, w := range other[j].widths {
					levels[i][j].widths[k] = max(levels[i][j].widths[k], w)
				}
			}
		}
	}
	return levels
}
