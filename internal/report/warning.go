package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/sweep"
)

func (b *builder) warnings() []string {
	var w []string
	if n := len(b.hosts.found); n > 1 {
		w = append(w, fmt.Sprintf("the runs come from %d hosts or server versions: rows are kept apart, and a Δ across them, marked †, compares these too (%s)",
			n, hostDiff(b.hosts.found[0], b.hosts.found[1])))
	}
	if v := b.hosts.versions(); len(v) > 1 {
		w = append(w, "measured by different versions of sweep: "+strings.Join(v, ", "))
	}
	return append(w, b.in.Warnings...)
}

// apart names the sides' configurations that could be compared by name and were
// not, because no level was measured well on both.
func (b *builder) apart(levels []Level) []string {
	var w []string
	for i, s := range b.in.Subjects {
		if len(b.in.Sides) < 2 || s.Against < 0 || s.Against == i {
			continue
		}
		compared := slices.ContainsFunc(levels, func(l Level) bool {
			return slices.ContainsFunc(l.Rows, func(r Row) bool { return r.cell.subject == i && (r.Delta != nil || r.SameRuns) })
		})
		if !compared {
			w = append(w, fmt.Sprintf("%s and %s share no level that both measured well: no Δ", b.names[i], b.names[s.Against]))
		}
	}
	return append(w, shared(levels)...)
}

// shared names the rows that have some, not all, of their runs in common with
// what they are compared with: such a Δ is smaller than one of separate runs.
func shared(levels []Level) []string {
	var w []string
	for _, l := range levels {
		for _, r := range l.Rows {
			if r.Delta != nil && r.Delta.Shared > 0 {
				w = append(w, fmt.Sprintf("%s at %s has %s in common with what it is compared with: its Δ is no reproduction", r.Name, l.Name, count(r.Delta.Shared, "run")))
			}
		}
	}
	return w
}

func hostDiff(a, b sweep.Fingerprint) string {
	parts := []string{}
	if d := sweep.HostDiff(a.Host, b.Host); d != "" {
		parts = append(parts, strings.ReplaceAll(d, ", now ", " against "))
	}
	if !sameServer(a, b) {
		parts = append(parts, fmt.Sprintf("sglang %s against %s", a.Server.Version, b.Server.Version))
	}
	return strings.Join(parts, ", ")
}
