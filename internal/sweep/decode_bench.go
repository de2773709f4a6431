package sweep

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"sweep/internal/bench"
)

// maxTokens bounds the lengths of one request.
const maxTokens = 10_000_000

// bench reads the ladder. The levels wait until all workloads are known,
// whatever the order of the keys.
func (d *decoder) bench(n *yaml.Node) {
	b := &d.spec.Bench
	b.Tool = bench.Tool
	var workloads []bench.Workload
	var levels *yaml.Node
	broken := false
	d.object(n, "bench", []field{
		{key: "tool", read: func(_, v *yaml.Node) {
			tool, ok := d.text(v, "tool")
			switch {
			case !ok || tool == bench.Tool:
			case tool == "bench_serving":
				d.problem(v, "use native, or wait for a later version of sweep", "the tool bench_serving is not supported yet")
			default:
				d.problem(v, "it is native or bench_serving", "there is no tool %s", quote(tool))
			}
		}},
		{key: "workloads", need: "workloads: {short: {input-len: 256, output-len: 128}}", read: func(_, v *yaml.Node) {
			before := len(d.problems)
			workloads = d.workloads(v)
			broken = len(d.problems) > before
		}},
		{key: "levels", need: "levels: [{concurrency: 1, prompts: 8}, {concurrency: [32, 64]}]", read: func(_, v *yaml.Node) { levels = v }},
		{key: "max-level", read: func(_, v *yaml.Node) { b.MaxLevel, _ = d.duration(v, "max-level") }},
		{key: "above-cap"},
		{key: "slo", read: func(_, v *yaml.Node) {
			d.object(v, "slo", []field{
				{key: "ttft", read: func(_, v *yaml.Node) { b.SLO.TTFT, _ = d.duration(v, "ttft") }},
				{key: "tpot", read: func(_, v *yaml.Node) { b.SLO.TPOT, _ = d.duration(v, "tpot") }},
				{key: "e2e", read: func(_, v *yaml.Node) { b.SLO.E2E, _ = d.duration(v, "e2e") }},
			})
		}},
		{key: "probe"},
	})
	if levels != nil {
		b.Levels = d.levels(levels, workloads, broken || len(workloads) == 0)
	}
}

func (d *decoder) workloads(n *yaml.Node) []bench.Workload {
	entries, ok := d.entries(n, "workloads")
	if ok && len(entries) == 0 {
		d.problem(n, "for example `short: {input-len: 256, output-len: 128}`", "workloads is empty")
	}
	var all []bench.Workload
	for _, e := range entries {
		name := label(e.key)
		if !d.named(e.key, name, "a workload", fileName) {
			continue
		}
		// bench_serving's own defaults: seed 1, range ratio 0.
		w := bench.Workload{Name: name, Seed: 1}
		d.object(e.value, "the workload "+name, []field{
			{key: "input-len", need: "input-len: 256", read: func(_, v *yaml.Node) { w.InputLen, _ = d.whole(v, "input-len", 1, maxTokens) }},
			{key: "output-len", need: "output-len: 128", read: func(_, v *yaml.Node) { w.OutputLen, _ = d.whole(v, "output-len", 1, maxTokens) }},
			{key: "range-ratio", read: func(_, v *yaml.Node) { w.RangeRatio = d.ratio(v) }},
			{key: "seed", read: func(_, v *yaml.Node) {
				seed, _ := d.whole(v, "seed", 0, 1<<32-1)
				w.Seed = uint32(seed)
			}},
		})
		all = append(all, w)
	}
	return all
}

func (d *decoder) ratio(n *yaml.Node) float64 {
	if n = d.follow(n); n == nil {
		return 0
	}
	ratio := -1.0
	if n.Kind == yaml.ScalarNode && kindOf(n) == number {
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil {
			ratio = v
		}
	}
	if !(ratio >= 0 && ratio <= 1) {
		d.problem(n, "0 draws lengths from 1 to L, 1 makes all of them L", "range-ratio must be a number from 0 to 1, not %s", kindName(n))
		return 0
	}
	return ratio
}
