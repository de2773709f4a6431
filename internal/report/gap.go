package report

import (
	"strconv"
	"strings"
)

// gaps lists what was not measured, by reason, in the order of the plan.
func (b *builder) gaps() []Gap {
	type place struct {
		subject int
		level   string
	}
	var gaps []Gap
	repeats := map[string]map[place][]string{} // by reason
	order := map[string][]place{}
	for _, m := range b.in.NotRun {
		if repeats[m.Reason] == nil {
			repeats[m.Reason] = map[place][]string{}
			gaps = append(gaps, Gap{Reason: m.Reason})
		}
		at := place{m.Subject, m.Level}
		if repeats[m.Reason][at] == nil {
			order[m.Reason] = append(order[m.Reason], at)
		}
		repeats[m.Reason][at] = append(repeats[m.Reason][at], strconv.Itoa(m.Repeat))
	}
	for i := range gaps {
		for _, at := range order[gaps[i].Reason] {
			what := b.names[at.subject]
			if at.level != "" {
				what += " at " + at.level
			}
			switch n := repeats[gaps[i].Reason][at]; {
			case len(n) > 1:
				what += " (repeats " + strings.Join(n, ", ") + ")"
			case b.in.Subjects[at.subject].Planned > 1:
				what += " (repeat " + n[0] + ")"
			}
			gaps[i].What = append(gaps[i].What, what)
		}
	}
	return gaps
}
