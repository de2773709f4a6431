package report

import (
	"cmp"
	"slices"

	"sweep/internal/verdict"
)

// rank sorts rows: valid and suspect ones by output throughput, then invalid
// ones, then those without a figure, in the order of the plan.
func rank(rows []Row) {
	class := func(r Row) int {
		switch {
		case r.Verdict == "":
			return 3
		case r.Verdict == string(verdict.IsInvalid):
			return 2
		case r.Figures.Output.Median == nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(x, y Row) int {
		order := cmp.Compare(class(x), class(y))
		if order == 0 && class(x) == 0 {
			order = -cmp.Compare(*x.Figures.Output.Median, *y.Figures.Output.Median)
		}
		return order
	})
	for i := range rows {
		if class(rows[i]) == 0 {
			rows[i].Rank = i + 1
		}
	}
}

// compare fills in the differences to what each row is compared with: a ranked
// row of the same level, on the same host where there is one.
func (b *builder) compare(rows []Row) {
	for i := range rows {
		r := &rows[i]
		to := b.in.Subjects[r.cell.subject].Against
		if to < 0 || to == r.cell.subject && len(b.hosts.found) < 2 || r.Rank == 0 {
			continue
		}
		var base *Row
		for j := range rows {
			other := &rows[j]
			if other.cell.subject == to && other.Rank > 0 && j != i && (base == nil || other.cell.host == r.cell.host) {
				base = other
			}
		}
		if base == nil || to == r.cell.subject && base.cell.host > r.cell.host || *base.Figures.Output.Median == 0 {
			continue
		}
		shared := common(r.Runs, base.Runs)
		if shared == len(r.Runs) && shared == len(base.Runs) {
			r.SameRuns = true // what is compared with itself reproduces nothing
			continue
		}
		x, y := r.Figures.Output, base.Figures.Output
		r.Delta = &Delta{
			Percent:   (*x.Median / *y.Median - 1) * 100,
			N:         x.N,
			BaselineN: y.N,
			Overlap:   overlap(x, y),
			Unproven:  overlap(x, y) || near(x, y),
			Shared:    shared,
			Hosts:     r.cell.host != base.cell.host,
		}
	}
}

// common counts the runs that are in both lists.
func common(a, b []string) int {
	n := 0
	for _, run := range a {
		if slices.Contains(b, run) {
			n++
		}
	}
	return n
}
