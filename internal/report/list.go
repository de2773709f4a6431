package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// NightLine is one night in a list.
type NightLine struct {
	ID      string
	Host    string
	Started time.Time
	Planned int // runs
	Done    int // measured, or reused
	Failed  int
	Invalid int    // of the others, those with an invalid level
	State   string // "finished", "finished, with failures", "unfinished", "running"
	Summary string

	Failures []string // what failed and why: "p2p=phb: cuda-oom"
}

// namedFailures bounds how many failures of a night a list names.
const namedFailures = 3

// List writes nights one a line, in the order they come; where a line has no
// room for all, the name and the host stand above the rest.
func List(w io.Writer, nights []NightLine, o TextOptions) error {
	p := newPrinter(w, o)
	if len(nights) == 0 {
		p.line("no nights yet: `sweep run FILE` makes one")
		return p.err
	}
	invalid := slices.ContainsFunc(nights, func(n NightLine) bool { return n.Invalid > 0 })
	titles, rows := []string{"night"}, [][]string{{"started", "host", "runs", "done", "failed"}}
	if invalid { // else the column is only wide
		rows[0] = append(rows[0], "invalid")
	}
	rows[0] = append(rows[0], "state")
	for _, n := range nights {
		started := unknown
		if !n.Started.IsZero() {
			started = n.Started.Local().Format("2006-01-02 15:04")
		}
		titles = append(titles, clean(n.ID))
		row := []string{started, cmp.Or(clean(n.Host), "local"), fmt.Sprint(n.Planned), fmt.Sprint(n.Done), fmt.Sprint(n.Failed)}
		if invalid {
			row = append(row, fmt.Sprint(n.Invalid))
		}
		rows = append(rows, append(row, clean(n.State)))
	}
	title, widths, total := widest(titles), columnWidths(rows), 0
	for _, w := range widths {
		total += 2 + w
	}
	beside := title+total <= p.width
	for k, row := range rows {
		s := plain
		if k == 0 {
			s = dim
		}
		lead := padRight(titles[k], title)
		if !beside {
			p.para(s, "", titles[k]+" · "+row[1])
			lead = "  "
		}
		lead += "  " + padRight(row[0], widths[0]) + "  "
		if beside {
			lead += padRight(row[1], widths[1]) + "  "
		}
		last := len(row) - 1
		for i := 2; i < last; i++ {
			lead += padLeft(row[i], widths[i]) + "  "
		}
		if beside {
			p.line(p.paint(s, lead+row[last]))
		} else {
			p.para(s, lead, row[last])
		}
		if k > 0 && nights[k-1].Summary != "" {
			p.para(dim, "    ", nights[k-1].Summary)
		}
		if k > 0 && len(nights[k-1].Failures) > 0 {
			all := nights[k-1].Failures
			text := strings.Join(all[:min(len(all), namedFailures)], " · ")
			if more := len(all) - namedFailures; more > 0 {
				text += fmt.Sprintf(" · %d more", more)
			}
			p.para(dim, "    ", "failed: "+spaced(clean(text)))
		}
	}
	return p.err
}
