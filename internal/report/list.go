package report

import (
	"cmp"
	"fmt"
	"io"
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
	State   string // "finished", "unfinished", "running"
	Summary string
}

// List writes nights one a line, in the order they come; where a line has no
// room for all, the name and the host stand above the rest.
func List(w io.Writer, nights []NightLine, o TextOptions) error {
	p := newPrinter(w, o)
	if len(nights) == 0 {
		p.line("no nights yet: `sweep run FILE` makes one")
		return p.err
	}
	titles, rows := []string{"night"}, [][]string{{"started", "host", "runs", "done", "failed", "state"}}
	for _, n := range nights {
		started := unknown
		if !n.Started.IsZero() {
			started = n.Started.Local().Format("2006-01-02 15:04")
		}
		titles = append(titles, clean(n.ID))
		rows = append(rows, []string{started, cmp.Or(clean(n.Host), "local"), fmt.Sprint(n.Planned), fmt.Sprint(n.Done), fmt.Sprint(n.Failed), clean(n.State)})
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
		for i := 2; i <= 4; i++ {
			lead += padLeft(row[i], widths[i]) + "  "
		}
		if beside {
			p.line(p.paint(s, lead+row[5]))
		} else {
			p.para(s, lead, row[5])
		}
		if k > 0 && nights[k-1].Summary != "" {
			p.para(dim, "    ", nights[k-1].Summary)
		}
	}
	return p.err
}
