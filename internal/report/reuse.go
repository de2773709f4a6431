package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/sweep"
)

// reused says how many of a night's runs other nights measured, and which.
// It is empty when the night measured everything itself.
func (b *builder) reused() string {
	if b.in.Night == "" {
		return ""
	}
	total, whole, begun := 0, 0, 0
	var nights []string
	for _, c := range b.cells {
		if b.in.Subjects[c.subject].Hidden {
			continue
		}
		for _, run := range c.runs {
			if len(run.Records) == 0 {
				continue
			}
			total++
			other := func(r sweep.Record) bool { return r.Sweep != b.in.Night }
			switch {
			case !slices.ContainsFunc(run.Records, other):
				continue
			case slices.ContainsFunc(run.Records, func(r sweep.Record) bool { return !other(r) }):
				begun++
			default:
				whole++
			}
			for _, r := range run.Records {
				if other(r) && !slices.Contains(nights, r.Sweep) {
					nights = append(nights, r.Sweep)
				}
			}
		}
	}
	var parts []string
	if whole > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", whole, count(total, "run")))
	}
	if begun > 0 {
		parts = append(parts, fmt.Sprintf("%d begun and completed here", begun))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "; measured in night " + strings.Join(nights, ", ")
}
