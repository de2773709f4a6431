package report

import (
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/stats"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// row sums up what the runs of a cell measured at one level. Invalid repeats
// stay out of the figures while there is a better one; when there is none they
// are shown, and never ranked. The second result tells whether there was
// anything to sum up.
func (b *builder) row(c cell, key string, slo bench.SLO) (Row, bool) {
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
	var reasons []string
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
			if why := b.whyInvalid(run, *m); !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
			continue
		case verdict.IsSuspect:
			suspect = true
		}
		good, goodRuns = append(good, *m), append(goodRuns, run.Name)
	}
	switch {
	case len(good) == 0 && len(bad) == 0:
		r.Reason, r.Failed = b.reasonWithout(c, key)
		return r, false
	case len(good) == 0:
		r.Reason = strings.Join(reasons, "; ")
		r.Verdict, r.Runs, r.N, r.Figures = string(verdict.IsInvalid), badRuns, len(bad), figuresOf(bad, slo)
	default:
		r.Verdict, r.Runs, r.N, r.Figures = string(verdict.Valid), goodRuns, len(good), figuresOf(good, slo)
		if suspect || len(bad) > 0 {
			r.Verdict = string(verdict.IsSuspect)
		}
	}
	return r, true
}

// reasonWithout says in a few words why no run of a row has a figure, and
// whether that is a failure.
func (b *builder) reasonWithout(c cell, key string) (reason string, failed bool) {
	for _, run := range c.runs {
		if len(run.Records) == 0 {
			continue
		}
		if last := run.Records[len(run.Records)-1]; last.Failure != nil && !interrupted(last) {
			return howFailed(*last.Failure), true
		}
		if reason = whyNot(run, key); reason == unmeasured {
			return reason, true
		}
	}
	if why := b.onPurpose(c.subject, key); why != "" {
		return why, false
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

// figuresOf takes goodput only from measurements that were counted with slo.
func figuresOf(ms []bench.Measurement, slo bench.SLO) Figures {
	over := func(get func(bench.Measurement) *float64) Figure { return figureOf(ms, get) }
	goodput := func(get func(bench.Measurement) *float64) Figure {
		return over(func(m bench.Measurement) *float64 {
			if m.SLO != slo {
				return nil
			}
			return get(m)
		})
	}
	steady := func(get func(bench.Steady) *float64) Figure {
		return over(func(m bench.Measurement) *float64 {
			if m.Steady == nil {
				return nil
			}
			return get(*m.Steady)
		})
	}
	return Figures{
		Output:    over(func(m bench.Measurement) *float64 { return m.Headline() }),
		Input:     over(func(m bench.Measurement) *float64 { return m.InputThroughput }),
		Total:     over(func(m bench.Measurement) *float64 { return m.TotalThroughput }),
		PerStream: over(func(m bench.Measurement) *float64 { return m.PerStream }),
		TTFTp50:   over(func(m bench.Measurement) *float64 { return m.TTFT.P50 }),
		TTFTp99:   over(func(m bench.Measurement) *float64 { return m.TTFT.P99 }),
		TPOTp50:   over(func(m bench.Measurement) *float64 { return m.TPOT.P50 }),
		TPOTp99:   over(func(m bench.Measurement) *float64 { return m.TPOT.P99 }),
		E2Ep50:    over(func(m bench.Measurement) *float64 { return m.E2E.P50 }),
		E2Ep99:    over(func(m bench.Measurement) *float64 { return m.E2E.P99 }),

		Goodput:      goodput(func(m bench.Measurement) *float64 { return m.Goodput }),
		GoodputShare: goodput(func(m bench.Measurement) *float64 { return m.GoodputShare }),

		Whole:         over(func(m bench.Measurement) *float64 { return m.OutputThroughput }),
		Window:        over(func(m bench.Measurement) *float64 { return &m.Window }),
		Steady:        steady(func(s bench.Steady) *float64 { return s.OutputThroughput }),
		SteadySeconds: steady(func(s bench.Steady) *float64 { return &s.Seconds }),
	}
}

// figureOf is one metric over the measurements that have it.
func figureOf(ms []bench.Measurement, get func(bench.Measurement) *float64) Figure {
	var samples []float64
	for _, m := range ms {
		if v := get(m); stats.Figure(v) != unknown {
			samples = append(samples, *v)
		}
	}
	f := Figure{Median: stats.Median(samples), N: len(samples)}
	if len(samples) > 0 {
		low, high := slices.Min(samples), slices.Max(samples)
		f.Low, f.High = &low, &high
	}
	return f
}
