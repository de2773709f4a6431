package report

import (
	"cmp"
	"slices"

	"sweep/internal/bench"
	"sweep/internal/stats"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// row sums up what the runs of a cell measured at one level. Invalid repeats
// stay out of the figures while there is a better one; when there is none they
// are shown, and never ranked. The second result tells whether there was
// anything to sum up.
func (b *builder) row(c cell, key string) (Row, bool) {
	s := b.in.Subjects[c.subject]
	r := Row{
		Name:     b.rowName(c),
		Full:     s.Config.Name,
		ID:       s.Config.ID,
		Baseline: s.Against == c.subject,
		Planned:  s.Planned,
		cell:     c,
	}
	var good, bad []bench.Measurement
	var goodRuns, badRuns []string
	suspect := false
	for _, run := range c.runs {
		m := measurementOf(run, key)
		if m == nil {
			continue
		}
		for _, mark := range b.marks(run) {
			if !slices.Contains(r.Marks, mark) {
				r.Marks = append(r.Marks, mark)
			}
		}
		switch b.verdictOf(run, key) {
		case verdict.IsInvalid:
			bad, badRuns = append(bad, *m), append(badRuns, run.Name)
			continue
		case verdict.IsSuspect:
			suspect = true
		}
		good, goodRuns = append(good, *m), append(goodRuns, run.Name)
	}
	switch {
	case len(good) == 0 && len(bad) == 0:
		r.Reason, r.Failed = reasonWithout(c.runs)
		return r, false
	case len(good) == 0:
		r.Verdict, r.Runs, r.N, r.Figures = string(verdict.IsInvalid), badRuns, len(bad), figuresOf(bad)
	default:
		r.Verdict, r.Runs, r.N, r.Figures = string(verdict.Valid), goodRuns, len(good), figuresOf(good)
		if suspect || len(bad) > 0 {
			r.Verdict = string(verdict.IsSuspect)
		}
	}
	return r, true
}

// reasonWithout says in a few words why no run of a row has a figure, and
// whether that is a failure.
func reasonWithout(runs []sweep.Run) (reason string, failed bool) {
	for _, run := range runs {
		if len(run.Records) == 0 {
			continue
		}
		if f := run.Records[len(run.Records)-1].Failure; f != nil {
			reason = "failed: " + cmp.Or(f.Cause.Code, "unknown cause")
			if f.Cause.Phase != "" {
				reason += " (" + string(f.Cause.Phase) + ")"
			}
			return reason, true
		}
		reason = whyNot(run)
	}
	return reason, false
}

func measurementOf(run sweep.Run, key string) *bench.Measurement {
	for i := range run.Measurements {
		if run.Measurements[i].Key == key {
			return &run.Measurements[i]
		}
	}
	return nil
}

func figuresOf(ms []bench.Measurement) Figures {
	over := func(get func(bench.Measurement) *float64) Figure {
		var samples []float64
		for _, m := range ms {
			if number(get(m)) != unknown {
				samples = append(samples, *get(m))
			}
		}
		f := Figure{Median: stats.Median(samples), N: len(samples)}
		if len(samples) > 0 {
			low, high := slices.Min(samples), slices.Max(samples)
			f.Low, f.High = &low, &high
		}
		return f
	}
	return Figures{
		Output:    over(func(m bench.Measurement) *float64 { return m.OutputThroughput }),
		Input:     over(func(m bench.Measurement) *float64 { return m.InputThroughput }),
		Total:     over(func(m bench.Measurement) *float64 { return m.TotalThroughput }),
		PerStream: over(func(m bench.Measurement) *float64 { return m.PerStream }),
		TTFTp50:   over(func(m bench.Measurement) *float64 { return m.TTFT.P50 }),
		TTFTp99:   over(func(m bench.Measurement) *float64 { return m.TTFT.P99 }),
		TPOTp50:   over(func(m bench.Measurement) *float64 { return m.TPOT.P50 }),
		TPOTp99:   over(func(m bench.Measurement) *float64 { return m.TPOT.P99 }),
		E2Ep50:    over(func(m bench.Measurement) *float64 { return m.E2E.P50 }),
		E2Ep99:    over(func(m bench.Measurement) *float64 { return m.E2E.P99 }),
	}
}

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
		x, y := r.Figures.Output, base.Figures.Output
		r.Delta = &Delta{
			Percent:   (*x.Median / *y.Median - 1) * 100,
			N:         x.N,
			BaselineN: y.N,
			Overlap:   *x.Low <= *y.High && *y.Low <= *x.High,
			Hosts:     r.cell.host != base.cell.host,
		}
	}
}
