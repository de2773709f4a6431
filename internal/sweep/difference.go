package sweep

import (
	"slices"
	"strings"

	"sweep/internal/matrix"
)

// BaselineName is what a list of configurations calls the one that the others
// are compared with.
const BaselineName = matrix.BaselineName

// Difference is one of several configurations by what it changes.
type Difference struct {
	Name   string // "baseline", "p2p=phb,moe=cutlass", or the name that was given by hand; no two are the same
	Recipe string // what a name given by hand stands for: "baseline + autotune=on, mem-fraction-static=0.95"; "" for others
}

// Differences names configurations by what tells them from all[base]. One alone
// keeps its own name: there is nothing to tell it from.
func Differences(all []Configuration, base int) []Difference {
	list := make([]Difference, len(all))
	if len(all) == 1 {
		list[0].Name = all[0].Name
		return list
	}
	b := newComparer(&all[base])
	var learned implied
	used := make(map[string]int, len(all))
	for i := range all {
		c := &all[i]
		switch changed := b.changed(c); {
		case i == base:
			list[i].Name = BaselineName
		case c.ByHand():
			if learned == nil {
				learned = b.learn(all)
			}
			list[i] = Difference{Name: c.Name, Recipe: b.recipe(c, changed, learned)}
		default:
			list[i].Name = strings.Join(changed, ",")
		}
		used[list[i].Name]++
	}
	for i := range all {
		if list[i].Name == "" || used[list[i].Name] > 1 {
			list[i].Name = all[i].Name
		}
	}
	return list
}

// ByHand tells whether a configuration has a name of its own: it is no
// combination of the matrix, but one of include.
func (c *Configuration) ByHand() bool {
	if len(c.Labels) == 0 {
		return c.Name != matrix.BaseName
	}
	return c.Name != joinedLabels(c.Labels)
}

func joinedLabels(labels []matrix.Label) string {
	parts := make([]string, len(labels))
	for i, l := range labels {
		parts[i] = l.Axis + "=" + l.Value
	}
	return strings.Join(parts, ",")
}

// Differences names the configurations of a plan, in its order, by what tells
// them from its baseline.
func (p *Plan) Differences() []Difference {
	base := slices.IndexFunc(p.Configurations, func(c Configuration) bool { return c.Baseline })
	return Differences(p.Configurations, max(base, 0))
}
