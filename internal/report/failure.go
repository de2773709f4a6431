package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/sweep"
)

// failures lists why starts failed, also those that a later attempt made good.
// What failed in the same way in several repeats is said once.
func (b *builder) failures() []Failure {
	var list []Failure
	for _, c := range b.cells {
		for i, run := range c.runs {
			for k, record := range run.Records {
				if record.Failure == nil {
					continue
				}
				f := b.failure(c, record)
				f.Retried = slices.ContainsFunc(run.Records[k+1:], func(r sweep.Record) bool { return r.Status == sweep.StatusDone })
				where := fmt.Sprintf("%s, attempt %d", repeatOf(c.runs, i), record.Attempt)
				at := slices.IndexFunc(list, func(g Failure) bool {
					return g.Name == f.Name && g.Cause == f.Cause && g.Phase == f.Phase && g.Level == f.Level && g.Exit == f.Exit && g.Line == f.Line && g.Retried == f.Retried
				})
				if at < 0 {
					list = append(list, f)
					at = len(list) - 1
				}
				list[at].Where = append(list[at].Where, where)
			}
		}
	}
	return list
}

func (b *builder) failure(c cell, r sweep.Record) Failure {
	cause := r.Failure.Cause
	f := Failure{
		Name:  b.rowName(c),
		Cause: cmp.Or(cause.Code, "unknown"),
		Class: string(cause.Class),
		Phase: string(cause.Phase),
		Level: b.levelOf(r.Failure.Level),
		Exit:  r.Failure.Exit,
		Line:  cause.Line,
		Hint:  cause.Hint,
	}
	if f.Line == "" && len(r.Failure.Excerpt) > 0 {
		f.Line = r.Failure.Excerpt[0]
	}
	return f
}

// levelOf shows a level's key as people know it, as far as anything tells.
func (b *builder) levelOf(key string) string {
	for _, l := range b.in.Levels {
		if l.Key() == key {
			return l.String()
		}
	}
	for _, c := range b.cells {
		for _, run := range c.runs {
			if m := measurementOf(run, key); m != nil {
				return m.Level.String()
			}
		}
	}
	return key
}

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
