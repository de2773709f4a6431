package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/stats"
)

// heading says what load a level is. Workload, seed and tool are named where
// the levels differ in them.
func heading(m bench.Measurement, all []bench.Measurement) string {
	l, w := m.Level, m.Level.Workload
	parts := []string{l.String(), "closed loop", lengths(w) + " tokens (random-ids)"}
	switch l.Mode {
	case bench.Burst:
		parts[1] = "all at once"
	case bench.Open:
		parts[1] = "open loop"
	}
	if w.Text != "" {
		parts[2] = "text, at most " + count(w.OutputLen, "output token")
	}
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
		return stats.Count(w.InputLen) + "/" + stats.Count(w.OutputLen)
	}
	span := func(n int) string { return stats.Count(max(int(float64(n)*w.RangeRatio), 1)) + "–" + stats.Count(n) }
	return span(w.InputLen) + "/" + span(w.OutputLen)
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
	return stats.Count(n) + " " + what + "s"
}
