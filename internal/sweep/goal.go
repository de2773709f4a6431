package sweep

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/bench"
)

// Goal is a figure that a configuration should reach. A report says how far
// each one is from it.
type Goal struct {
	Metric string   `json:"metric"` // as measurements name it; of a latency with its percentile: ttft_p50
	At     GoalAt   `json:"at,omitzero"`
	Levels []string `json:"levels"`        // keys of the levels that At selects
	Min    *float64 `json:"min,omitempty"` // at least; in the metric's unit, latencies in ms
	Max    *float64 `json:"max,omitempty"` // at most
}

// GoalAt selects levels; what is zero selects all.
type GoalAt struct {
	Concurrency int     `json:"concurrency,omitempty"`
	Burst       int     `json:"burst,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	Workload    string  `json:"workload,omitempty"`
}

func (a GoalAt) selects(l bench.Level) bool {
	switch {
	case a.Workload != "" && a.Workload != l.Workload.Name,
		a.Concurrency != 0 && (l.Mode != bench.Closed || l.Concurrency != a.Concurrency),
		a.Burst != 0 && (l.Mode != bench.Burst || l.Concurrency != a.Burst),
		a.Rate != 0 && (l.Mode != bench.Open || l.Rate != a.Rate):
		return false
	}
	return true
}

// goalRates are the metrics whose goal is a plain number.
var goalRates = []string{"per_stream", "output_throughput", "input_throughput", "total_throughput", "peak_output_throughput",
	"request_throughput", "goodput", "goodput_share"}

// goalMetrics are all metrics that a goal can have.
func goalMetrics() []string {
	names := slices.Clone(goalRates)
	for _, latency := range []string{"ttft", "tpot", "itl", "e2e"} {
		for _, of := range []string{"p50", "p90", "p95", "p99", "mean", "max"} {
			names = append(names, latency+"_"+of)
		}
	}
	return names
}

const maxGoals = 100

func (d *decoder) goals(n *yaml.Node) []Goal {
	var goals []Goal
	for i, item := range d.items(n, "goals", "- {metric: per_stream, at: {concurrency: 1}, min: 100}") {
		if i == maxGoals {
			d.problem(item, "keep those that matter", "these are more than %d goals", maxGoals)
			break
		}
		if g, ok := d.goal(item); ok {
			goals = append(goals, g)
		}
	}
	return goals
}

func (d *decoder) goal(n *yaml.Node) (Goal, bool) {
	var g Goal
	var least, most, at *yaml.Node
	before := len(d.problems)
	d.object(n, "a goal", []field{
		{key: "metric", need: "metric: per_stream", read: func(_, v *yaml.Node) {
			name, ok := d.text(v, "metric")
			switch {
			case !ok:
			case slices.Contains(goalMetrics(), name):
				g.Metric = name
			case slices.Contains(goalMetrics(), name+"_p50"):
				d.problem(v, "write "+name+"_p50, "+name+"_p99, or another percentile", "the metric %s needs a percentile", name)
			default:
				d.problem(v, oneOf(name, goalMetrics(), "metrics are "), "there is no metric %s", quote(name))
			}
		}},
		{key: "at", read: func(key, v *yaml.Node) {
			at = key
			d.object(v, "at", []field{
				{key: "concurrency", read: func(_, v *yaml.Node) { g.At.Concurrency, _ = d.whole(v, "concurrency", 1, maxConcurrency) }},
				{key: "burst", read: func(_, v *yaml.Node) { g.At.Burst, _ = d.whole(v, "burst", 1, maxConcurrency) }},
				{key: "rate", read: func(_, v *yaml.Node) {
					if rates := d.rates(v); len(rates) == 1 {
						g.At.Rate = rates[0]
					}
				}},
				{key: "workload", read: func(_, v *yaml.Node) { g.At.Workload, _ = d.text(v, "workload") }},
			})
		}},
		{key: "min", read: func(_, v *yaml.Node) { least = v }},
		{key: "max", read: func(_, v *yaml.Node) { most = v }},
	})
	if len(d.problems) == before && least == nil && most == nil {
		d.problem(n, "for example `min: 100`", "a goal has min or max")
	}
	if len(d.problems) > before {
		return g, false
	}
	g.Min, g.Max = d.limit(least, g.Metric, "min"), d.limit(most, g.Metric, "max")
	for _, l := range d.spec.Bench.Levels {
		if g.At.selects(l) {
			g.Levels = append(g.Levels, l.Key())
		}
	}
	if len(g.Levels) == 0 && len(d.spec.Bench.Levels) > 0 && at != nil {
		d.problem(at, oneOf("", levelNames(d.spec.Bench.Levels), "the levels are "), "no level of this file is that of the goal")
	}
	return g, len(d.problems) == before
}

func levelNames(levels []bench.Level) []string {
	names := make([]string, 0, len(levels))
	for _, l := range levels {
		names = append(names, l.String())
	}
	return names
}

// limit reads what a goal asks for: a time with its unit for a latency, a plain
// number otherwise.
func (d *decoder) limit(n *yaml.Node, metric, what string) *float64 {
	if n == nil {
		return nil
	}
	if !slices.Contains(goalRates, metric) {
		v, ok := d.duration(n, what+" of "+metric)
		if !ok {
			return nil
		}
		ms := v.Seconds() * 1000
		return &ms
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(n.Value, "+"), 64)
	if n.Kind != yaml.ScalarNode || kindOf(n) != number || err != nil || !(v >= 0 && v <= 1e12) {
		d.problem(n, "write a plain number, without a unit", "%s of %s must be a number, not %s", what, metric, kindName(n))
		return nil
	}
	return &v
}
