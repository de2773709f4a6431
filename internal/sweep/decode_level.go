package sweep

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"sweep/internal/bench"
)

// Bounds of the ladder: beyond them lies a slip of the keyboard.
const (
	maxConcurrency = 1_000_000
	maxPrompts     = 10_000_000
	maxLevels      = 1000
)

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
			d.warn(promptsKey, "prompts: %d never fills a concurrency of %d", prompts, c)
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
