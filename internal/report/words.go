package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/bench"
)

// heading says what load a level is. Workload, seed and tool are named where
// the levels differ in them.
func heading(m bench.Measurement, all []bench.Measurement) string {
	l, w := m.Level, m.Level.Workload
	parts := []string{l.String(), "closed loop"}
	if l.Mode == bench.Burst {
		parts = []string{l.String(), "all at once"}
	}
	parts = append(parts, lengths(w)+" tokens (random-ids)")
	if prompts := max(l.Prompts, m.Asked); prompts > 0 {
		parts = append(parts, count(prompts, "prompt"))
	}
	differs := func(other func(bench.Measurement) bool) bool { return slices.ContainsFunc(all, other) }
	if differs(func(o bench.Measurement) bool { return o.Level.Workload.Name != w.Name }) {
		parts = append(parts, "workload "+w.Name)
	}
	if differs(func(o bench.Measurement) bool { return o.Level.Workload.Seed != w.Seed }) {
		parts = append(parts, fmt.Sprintf("seed %d", w.Seed))
	}
	if differs(func(o bench.Measurement) bool { return o.Tool != m.Tool || o.ToolVersion != m.ToolVersion }) {
		parts = append(parts, fmt.Sprintf("measured by %s %s", m.Tool, m.ToolVersion))
	}
	return strings.Join(parts, ", ")
}

// lengths says how long inputs and outputs are: one number when all are equal.
func lengths(w bench.Workload) string {
	if w.RangeRatio >= 1 {
		return fmt.Sprintf("%d/%d", w.InputLen, w.OutputLen)
	}
	low := func(n int) int { return max(int(float64(n)*w.RangeRatio), 1) }
	return fmt.Sprintf("%d–%d/%d–%d", low(w.InputLen), w.InputLen, low(w.OutputLen), w.OutputLen)
}

// levelName is the level's short name, with the workload where two levels
// share it.
func levelName(m bench.Measurement, all []bench.Measurement) string {
	name := m.Level.String()
	for _, other := range all {
		if other.Key == m.Key || other.Level.String() != name {
			continue
		}
		if w := m.Level.Workload; w.Name != "" && w.Name != other.Level.Workload.Name {
			return name + " " + w.Name
		}
		return fmt.Sprintf("%s, %s tokens, %s", name, lengths(m.Level.Workload), m.Key)
	}
	return name
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(fmt.Sprint(n)) + " " + what + "s"
}

// closing says which configuration of a level is best, by how much, and what
// that is worth. against names what rows are compared with; empty: nothing.
func closing(l Level, against string) string {
	head := l.Name
	if len(l.Marks) > 0 {
		head += " (" + strings.Join(l.Marks, ", ") + ")"
	}
	if len(l.Rows) == 0 || l.Rows[0].Rank == 0 {
		return head + ": nothing that could be ranked."
	}
	best := l.Rows[0]
	s := fmt.Sprintf("%s: best is %s, %s output tok/s", head, best.Name, number(best.Figures.Output.Median))
	switch d := best.Delta; {
	case d != nil:
		s += fmt.Sprintf(", %s to %s (n = %d against %d). ", signed(d.Percent), against, d.N, d.BaselineN) + doubt(*d)
	case best.Baseline && against != "":
		s += fmt.Sprintf(", which is %s itself (n = %d).", against, best.N)
		if len(l.Rows) > 1 && l.Rows[1].Delta != nil {
			next := l.Rows[1].Delta
			s += fmt.Sprintf(" Next is %s, %s (n = %d against %d). ", l.Rows[1].Name, signed(next.Percent), next.N, next.BaselineN) + doubt(*next)
		}
	case against != "":
		s += fmt.Sprintf(" (n = %d). No Δ: what it would be compared with has no valid figure at this level.", best.N)
	default:
		s += fmt.Sprintf(" (n = %d).", best.N)
	}
	if best.Verdict != "valid" {
		s += " Its figure is " + best.Verdict + ": see the footnotes."
	}
	return s
}

// doubt says what a difference is worth without an interval.
func doubt(d Delta) string {
	switch {
	case d.Hosts:
		return "The two were measured on different hosts: the difference is of these too."
	case d.N < 2 || d.BaselineN < 2:
		return "n = 1: no interval, a difference this size may be noise."
	case d.Overlap:
		return "The ranges overlap: no difference is shown."
	default:
		return fmt.Sprintf("The ranges lie apart; n = %d is small, and no interval was computed.", min(d.N, d.BaselineN))
	}
}
