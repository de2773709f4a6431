package report

import (
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

// List writes nights one a line, in the order they come.
func List(w io.Writer, nights []NightLine, o TextOptions) error {
	p := newPrinter(w, o)
	if len(nights) == 0 {
		p.line("no nights yet: `sweep run FILE` makes one")
		return p.err
	}
	heads := []string{"night", "started", "host", "runs", "done", "failed", "state"}
	rows := [][]string{heads}
	for _, n := range nights {
		started := unknown
		if !n.Started.IsZero() {
			started = n.Started.Local().Format("2006-01-02 15:04 MST")
		}
		host := clean(n.Host)
		if host == "" {
			host = "local"
		}
		rows = append(rows, []string{clean(n.ID), started, host, fmt.Sprint(n.Planned), fmt.Sprint(n.Done), fmt.Sprint(n.Failed), clean(n.State)})
	}
	widths := make([]int, len(heads))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	for k, row := range rows {
		line := ""
		for i, text := range row {
			if i >= 3 && i <= 5 {
				line += padLeft(text, widths[i]) + "  "
			} else {
				line += padRight(text, widths[i]) + "  "
			}
		}
		s := plain
		if k == 0 {
			s = dim
		}
		p.line(p.paint(s, line))
		if k > 0 && nights[k-1].Summary != "" {
			p.para(dim, "    ", nights[k-1].Summary)
		}
	}
	return p.err
}
