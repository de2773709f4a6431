package report

import (
	"bytes"
	"strings"
	"testing"

	"sweep/internal/sglang"
)

// D10: what is true of configurations as a whole is said once, by the names of
// the rows, and takes nothing from the ranking.
func TestD10InertIsSaidOnce(t *testing.T) {
	n := newNight(labelled("c1", "graph", "on", "cap", "8"), labelled("c2", "graph", "on", "cap", "4096"), labelled("c3", "graph", "on", "cap", "2048"))
	n.plan.Configurations[0].Baseline = true
	for o := range n.plan.Runs {
		run := n.add(o+1, false, measure(levels[0], float64(10+o%3)), measure(levels[1], float64(400+o%3)))
		run.Records[0].Fingerprint.Server = &sglang.Resolved{Version: "0.5.6", Args: map[string]any{"max_running_requests": float64(min(8, 1+8*(o%3)))}}
		n.runs[o+1] = *run
	}
	table := Build(n.input("x"))
	const want = "cap=4096 · cap=2048: one and the same server; what they differ in did nothing"
	if len(table.Inert) != 1 || table.Inert[0] != want {
		t.Errorf("%q", table.Inert)
	}
	for _, l := range table.Levels {
		if len(l.Footnotes) > 0 || l.Rows[0].Rank != 1 {
			t.Errorf("%s: %+v, rank %d", l.Name, l.Footnotes, l.Rows[0].Rank)
		}
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return table.Text(b, TextOptions{Width: 80}) },
		"markdown": func(b *bytes.Buffer) error { return table.Markdown(b) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "same server"); n != 1 || !strings.Contains(out.String(), "inert") {
			t.Errorf("%s says it %d times:\n%s", name, n, out.String())
		}
	}
}
