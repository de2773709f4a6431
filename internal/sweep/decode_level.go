package sweep

import (
	"slices"
	"strconv"

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
	var rates []float64
	var prompts int
	var promptsKey, workload *yaml.Node
	before := len(d.problems)
	d.object(n, "a level", []field{
		{key: "concurrency", read: func(_, v *yaml.Node) { closed = d.sizes(v, "concurrency") }},
		{key: "burst", read: func(_, v *yaml.Node) { burst = d.sizes(v, "burst") }},
		{key: "rate", read: func(_, v *yaml.Node) { rates = d.rates(v) }},
		{key: "prompts", read: func(key, v *yaml.Node) {
			promptsKey = key
			prompts, _ = d.whole(v, "prompts", 1, maxPrompts)
		}},
		{key: "workload", read: func(_, v *yaml.Node) { workload = v }},
	})
	if len(d.problems) > before {
		return nil
	}
	kinds := 0
	for _, given := range []bool{closed != nil, burst != nil, rates != nil} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		d.problem(n, "{concurrency: 64} is a closed loop, {burst: 64} sends all at once, {rate: 2.5, prompts: 300} sends so many a second",
			"a level has one of concurrency, burst and rate")
	case rates != nil && promptsKey == nil:
		d.problem(n, "for example `prompts: 300`", "a level with a rate needs prompts: it has no end of its own")
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
	for _, rate := range rates {
		all = append(all, bench.Level{Mode: bench.Open, Rate: rate, Prompts: prompts, Workload: w})
	}
	return all
}

// oneOrMore are the items of a list, or the one thing that is no list.
func (d *decoder) oneOrMore(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	items := d.items(n, what, what+": [1, 32]")
	if len(items) == 0 {
		d.problem(n, "for example `"+what+": [1, 32]`", "%s is an empty list", what)
	}
	return items
}

// rates reads one rate or a list of rates, in requests a second.
func (d *decoder) rates(n *yaml.Node) []float64 {
	var rates []float64
	for _, item := range d.oneOrMore(n, "rate") {
		v, err := strconv.ParseFloat(item.Value, 64)
		if item.Kind != yaml.ScalarNode || kindOf(item) != number || err != nil || !(v > 0 && v <= maxConcurrency) {
			d.problem(item, "for example `rate: 2.5`", "rate must be a number of requests a second, not %s", kindName(item))
			continue
		}
		rates = append(rates, v)
	}
	return rates
}

// sizes reads one size or a list of sizes.
func (d *decoder) sizes(n *yaml.Node, what string) []int {
	var sizes []int
	for _, item := range d.oneOrMore(n, what) {
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
