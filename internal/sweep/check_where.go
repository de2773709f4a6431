package sweep

import (
	"fmt"
	"strings"

	"sweep/internal/matrix"
)

// where says which configurations something is about, in as few words as there
// are: by a label, where exactly those with the label have it.
type where struct {
	plan  *Plan
	total map[matrix.Label]int // configurations with this label
}

func newWhere(p *Plan) where {
	w := where{plan: p, total: map[matrix.Label]int{}}
	for _, c := range p.Configurations {
		for _, l := range c.Labels {
			w.total[l]++
		}
	}
	return w
}

// text follows a message; empty when it is about all configurations. configs
// are places in the plan, rising.
func (w where) text(configs []int32) string {
	switch n := len(configs); {
	case n == len(w.plan.Configurations):
		return ""
	case n == 1:
		return ", in " + short(w.plan.Configurations[configs[0]].Name)
	}
	if labels := w.exactly(configs); labels != "" {
		return fmt.Sprintf(", in %d configurations with %s", len(configs), labels)
	}
	return fmt.Sprintf(", in %d configurations, the first is %s", len(configs), short(w.plan.Configurations[configs[0]].Name))
}

// exactly finds the labels that these configurations have in common and no
// others have; a single label where that is enough.
func (w where) exactly(configs []int32) string {
	common := w.plan.Configurations[configs[0]].Labels
	for _, i := range configs[1:] {
		if w.plan.Configurations[i].hasAll(common) {
			continue
		}
		var both []matrix.Label
		for _, l := range common {
			if w.plan.Configurations[i].has(l) {
				both = append(both, l)
			}
		}
		common = both
	}
	names := make([]string, len(common))
	for i, l := range common {
		names[i] = l.Axis + "=" + l.Value
		if w.total[l] == len(configs) {
			return names[i]
		}
	}
	if len(common) == 0 {
		return ""
	}
	all := 0
	for i := range w.plan.Configurations {
		if w.plan.Configurations[i].hasAll(common) {
			all++
		}
	}
	if all != len(configs) {
		return ""
	}
	return strings.Join(names, ",")
}

func (c *Configuration) has(l matrix.Label) bool {
	for _, own := range c.Labels {
		if own == l {
			return true
		}
	}
	return false
}

func (c *Configuration) hasAll(labels []matrix.Label) bool {
	for _, l := range labels {
		if !c.has(l) {
			return false
		}
	}
	return true
}
