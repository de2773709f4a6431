package sweep

import (
	"path"
	"strconv"
	"strings"

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
			case !ok:
			case tool == bench.Tool || tool == ToolBenchServing:
				b.Tool = tool
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
		{key: "above-cap", read: func(_, v *yaml.Node) {
			switch policy, ok := d.text(v, "above-cap"); {
			case !ok:
			case policy == CapOnce || policy == CapAll || policy == CapSkip:
				b.AboveCap = policy
			default:
				d.problem(v, "once runs the lowest level above max-running-requests, all runs every one, skip none", "above-cap cannot be %s", quote(policy))
			}
		}},
		{key: "slo", read: func(_, v *yaml.Node) {
			d.object(v, "slo", []field{
				{key: "ttft", read: func(_, v *yaml.Node) { b.SLO.TTFT, _ = d.duration(v, "ttft") }},
				{key: "tpot", read: func(_, v *yaml.Node) { b.SLO.TPOT, _ = d.duration(v, "tpot") }},
				{key: "e2e", read: func(_, v *yaml.Node) { b.SLO.E2E, _ = d.duration(v, "e2e") }},
			})
		}},
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
		all = append(all, d.workload(e.value, name))
	}
	return all
}

// workload reads what requests look like: random token ids of drawn lengths, or
// the texts of a file.
func (d *decoder) workload(n *yaml.Node, name string) bench.Workload {
	// bench_serving's own defaults: seed 1, range ratio 0.
	w := bench.Workload{Name: name, Seed: 1}
	what := "the workload " + name
	var input, ratio, text *yaml.Node
	before := len(d.problems)
	d.object(n, what, []field{
		{key: "text", read: func(key, v *yaml.Node) { text, w.Text = key, d.promptFile(v) }},
		{key: "input-len", read: func(key, v *yaml.Node) {
			input = key
			w.InputLen, _ = d.whole(v, "input-len", 1, maxTokens)
		}},
		{key: "output-len", need: "output-len: 128", read: func(_, v *yaml.Node) { w.OutputLen, _ = d.whole(v, "output-len", 1, maxTokens) }},
		{key: "range-ratio", read: func(key, v *yaml.Node) { ratio, w.RangeRatio = key, d.ratio(v) }},
		{key: "seed", read: func(_, v *yaml.Node) {
			seed, _ := d.whole(v, "seed", 0, 1<<32-1)
			w.Seed = uint32(seed)
		}},
	})
	switch {
	case text != nil && (input != nil || ratio != nil):
		key := input
		if key == nil {
			key = ratio
		}
		d.problem(key, "remove it: the texts have their own lengths", "%s takes its prompts from a file, so it has no %s", what, key.Value)
	case text == nil && input == nil && n.Kind == yaml.MappingNode && (len(d.problems) == before || len(n.Content) == 0):
		d.problem(n, "for example `input-len: 256`", "%s has no input-len", what)
	}
	return w
}

// promptFile reads the name of a file of prompts, one JSON object or text a
// line, beside the sweep file or by its full path.
func (d *decoder) promptFile(n *yaml.Node) string {
	name, ok := d.text(n, "the file of prompts")
	if ok && (name == "" || len(name) > 1024 || path.Clean(name) != name || name == "." || name == "/" || strings.HasPrefix(name, "../")) {
		d.problem(n, "a file of prompts beside the sweep file, or its full path: `text: prompts.jsonl`", "the file of prompts cannot be %s", quote(name))
		return ""
	}
	return name
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
