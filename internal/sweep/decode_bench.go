package sweep

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"sweep/internal/bench"
)

const (
	maxTokens      = 10_000_000 // of one request
	maxConcurrency = 1_000_000
	maxPrompts     = 10_000_000
	maxLevels      = 1000
)

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

// levels expands the ladder, single stream first: it is what every other level
// is read against, and it is cheap. When workloads are broken already, nothing
// is said about their names.
func (d *decoder) levels(n *yaml.Node, workloads []bench.Workload, broken bool) []bench.Level {
	var all []bench.Level
	first := map[bench.Level]*yaml.Node{}
	items := d.items(n, "levels", "[{concurrency: [1, 32]}]")
	if len(items) == 0 && n.Kind == yaml.SequenceNode {
		d.problem(n, "for example `- {concurrency: [1, 32]}`", "levels is empty")
	}
	for _, item := range items {
		for _, l := range d.level(item, workloads, broken) {
			if other := first[l]; other != nil {
				d.problem(item, "remove one of them", "the level %s is here a second time; the first is on line %d", l, other.Line)
				continue
			}
			first[l] = item
			if len(all) == maxLevels {
				d.problem(item, "each level takes minutes in every run", "these are more than %d levels", maxLevels)
				return all
			}
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b bench.Level) int { return rung(a) - rung(b) })
	return all
}

func rung(l bench.Level) int {
	if l.Mode == bench.Closed && l.Concurrency == 1 {
		return 0
	}
	return 1
}

// level reads one item of the ladder; a list of sizes makes several levels.
func (d *decoder) level(n *yaml.Node, workloads []bench.Workload, broken bool) []bench.Level {
	var closed, burst []int
	var prompts int
	var promptsKey, workload *yaml.Node
	before := len(d.problems)
	d.object(n, "a level", []field{
		{key: "concurrency", read: func(_, v *yaml.Node) { closed = d.sizes(v, "concurrency") }},
		{key: "burst", read: func(_, v *yaml.Node) { burst = d.sizes(v, "burst") }},
		{key: "rate"},
		{key: "prompts", read: func(key, v *yaml.Node) {
			promptsKey = key
			prompts, _ = d.whole(v, "prompts", 1, maxPrompts)
		}},
		{key: "workload", read: func(_, v *yaml.Node) { workload = v }},
	})
	if len(d.problems) > before {
		return nil
	}
	switch {
	case (closed == nil) == (burst == nil):
		d.problem(n, "{concurrency: 64} is a closed loop, {burst: 64} sends all at once", "a level has either concurrency or burst")
	case burst != nil && promptsKey != nil:
		d.problem(promptsKey, "remove it", "a burst sends as many prompts as it is large")
	}
	w := d.workloadOf(n, workload, workloads, broken)
	if len(d.problems) > before {
		return nil
	}
	var all []bench.Level
	for _, c := range closed {
		l := bench.Level{Mode: bench.Closed, Concurrency: c, Prompts: prompts, Workload: w}
		if prompts == 0 {
			l.Prompts = 5 * c
		} else if prompts < c {
			d.warn(promptsKey, "%d prompts never fill a concurrency of %d", prompts, c)
		}
		all = append(all, l)
	}
	for _, size := range burst {
		all = append(all, bench.Level{Mode: bench.Burst, Concurrency: size, Prompts: size, Workload: w})
	}
	return all
}

// sizes reads one size or a list of sizes.
func (d *decoder) sizes(n *yaml.Node, what string) []int {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		if items = d.items(n, what, what+": [1, 32]"); len(items) == 0 {
			d.problem(n, "for example `"+what+": [1, 32]`", "%s is an empty list", what)
		}
	}
	var sizes []int
	for _, item := range items {
		if v, ok := d.whole(item, what, 1, maxConcurrency); ok {
			sizes = append(sizes, v)
		}
	}
	return sizes
}

func (d *decoder) workloadOf(level, named *yaml.Node, workloads []bench.Workload, broken bool) bench.Workload {
	var names []string
	for _, w := range workloads {
		names = append(names, w.Name)
	}
	switch {
	case broken:
	case named != nil:
		name, _ := d.text(named, "workload")
		if i := slices.Index(names, name); i >= 0 {
			return workloads[i]
		}
		d.problem(named, oneOf(name, names, "the workloads are "), "there is no workload %s", quote(name))
	case len(workloads) > 1:
		d.problem(level, oneOf("", names, "the workloads are "), "there are %d workloads: the level must name one", len(workloads))
	case len(workloads) == 1:
		return workloads[0]
	}
	return bench.Workload{}
}
