package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

// Goal is what a sweep file asks of one metric at one level, and how far each
// configuration is from it.
type Goal struct {
	Metric string    `json:"metric"`
	Key    string    `json:"key"`   // of the level
	Level  string    `json:"level"` // "c=1"
	Text   string    `json:"text"`  // the goal in words, with its level
	Unit   string    `json:"unit"`  // of the limits and the figures
	Min    *float64  `json:"min"`   // null: no such limit
	Max    *float64  `json:"max"`
	Rows   []GoalRow `json:"rows"` // best first, then those that have no figure
}

// GoalRow is one configuration on one host beside a goal.
type GoalRow struct {
	Name     string   `json:"name"` // as the levels call it
	Full     string   `json:"configuration"`
	ID       string   `json:"id"`
	Figure   Figure   `json:"figure"`            // over its valid and suspect runs
	Planned  int      `json:"planned"`           // repeats that were to be; 0: not known
	Met      *bool    `json:"met"`               // null: there is no figure
	MissedBy *float64 `json:"missed_by_percent"` // of the limit; null where it is met, has no figure, or is of a limit of 0
	Reason   string   `json:"reason,omitempty"`  // why there is no figure
	Suspect  bool     `json:"suspect,omitempty"` // see the footnotes of the level
	Marks    []string `json:"marks,omitempty"`   // that not the whole table has

	failed bool // it has no figure because something went wrong
}

// goals lays every goal beside every configuration, also those that were never
// reached: a goal that nothing was measured for is not met by silence. What the
// whole table is marked with is not said again.
func (b *builder) goals(marks []string) []Goal {
	var plan []bench.Measurement // as far as names of levels need them
	for _, l := range b.in.Levels {
		plan = append(plan, bench.Measurement{Key: l.Key(), Level: l})
	}
	var list []Goal
	for _, asked := range b.in.Goals {
		for _, key := range asked.Levels {
			name := key
			if i := slices.IndexFunc(plan, func(m bench.Measurement) bool { return m.Key == key }); i >= 0 {
				name = levelName(plan[i], plan)
			}
			g := Goal{Metric: asked.Metric, Key: key, Level: name, Unit: metricOf(asked.Metric).unit, Min: asked.Min, Max: asked.Max}
			g.Text = goalWords(asked, g.Unit) + " at " + name
			g.Rows = b.goalRows(asked, key, marks)
			list = append(list, g)
		}
	}
	return list
}

// goalWords is a goal without its level: "ttft_p99 ≤ 500 ms".
func goalWords(g sweep.Goal, unit string) string {
	var limits []string
	for _, limit := range []struct {
		sign string
		v    *float64
	}{{"≥ ", g.Min}, {"≤ ", g.Max}} {
		if limit.v != nil {
			limits = append(limits, limit.sign+strconv.FormatFloat(*limit.v, 'f', -1, 64)+" "+unit)
		}
	}
	return g.Metric + " " + strings.Join(limits, " and ")
}

func (b *builder) goalRows(g sweep.Goal, key string, marks []string) []GoalRow {
	metric, slo := metricOf(g.Metric), b.limits(key)
	var rows []GoalRow
	for i, s := range b.in.Subjects {
		if s.Hidden {
			continue
		}
		reached := false
		for _, c := range b.cells {
			if c.subject == i {
				reached = true
				rows = append(rows, b.goalRow(c, g, key, metric, slo, marks))
			}
		}
		if !reached {
			rows = append(rows, GoalRow{Name: b.names[i], Full: s.Config.Name, ID: s.Config.ID, Planned: s.Planned,
				Reason: cmp.Or(b.missing(i, key), "not measured")})
		}
	}
	slices.SortStableFunc(rows, func(x, y GoalRow) int {
		if x.Met == nil || y.Met == nil || *x.Met != *y.Met {
			return cmp.Compare(standing(x), standing(y))
		}
		order := cmp.Compare(*x.Figure.Median, *y.Figure.Median)
		if !metric.low {
			order = -order
		}
		if x.MissedBy != nil && y.MissedBy != nil {
			return cmp.Or(cmp.Compare(*x.MissedBy, *y.MissedBy), order)
		}
		return order
	})
	return rows
}

// standing sorts rows that met a goal before those that missed it, and those
// before the ones without a figure.
func standing(r GoalRow) int {
	switch {
	case r.Met == nil:
		return 2
	case *r.Met:
		return 0
	default:
		return 1
	}
}

func (b *builder) goalRow(c cell, g sweep.Goal, key string, metric metric, slo bench.SLO, marks []string) GoalRow {
	r, _ := b.row(c, key, slo)
	row := GoalRow{Name: r.Name, Full: r.Full, ID: r.ID, Planned: r.Planned, Suspect: r.Verdict == "suspect",
		Marks: slices.DeleteFunc(r.Marks, func(m string) bool { return slices.Contains(marks, m) })}
	switch {
	case r.Verdict == "invalid":
		row.Reason, row.failed = "invalid, "+r.Reason, true
		return row
	case r.Verdict == "" && r.Failed:
		row.Reason, row.failed = r.Reason, true
		return row
	case r.Verdict == "":
		row.Reason = cmp.Or(b.missing(c.subject, key), r.Reason, "not measured")
		return row
	}
	var ms []bench.Measurement
	for _, run := range c.runs {
		if m := measurementOf(run, key); m != nil && slices.Contains(r.Runs, run.Name) {
			ms = append(ms, *m)
		}
	}
	row.Figure = figureOf(ms, func(m bench.Measurement) *float64 {
		if metric.limited && m.SLO != slo {
			return nil // counted under other limits: not the same figure
		}
		return metric.get(m)
	})
	if row.Figure.Median == nil {
		row.Reason = "none of its runs has a figure for " + g.Metric
		return row
	}
	row.judge(g)
	return row
}

// judge compares the figure with the limits, the exact one and not the rounded.
func (r *GoalRow) judge(g sweep.Goal) {
	v, met := *r.Figure.Median, true
	for _, limit := range []struct {
		at   *float64
		over float64
	}{{g.Min, -1}, {g.Max, 1}} {
		if limit.at == nil {
			continue
		}
		if by := (v - *limit.at) * limit.over; by > 0 {
			met = false
			if *limit.at > 0 {
				by = by / *limit.at * 100
				r.MissedBy = &by
			}
		}
	}
	r.Met = &met
}

// missing is why a level of a subject was not measured, as far as it is known.
func (b *builder) missing(subject int, key string) string {
	level := b.levelOf(key)
	for _, m := range b.in.NotRun {
		if m.Subject == subject && (m.Level == "" || m.Level == level) {
			return m.Reason
		}
	}
	return ""
}

// onPurpose is why a subject was never meant to measure a level; "" where it was.
func (b *builder) onPurpose(subject int, key string) string {
	level := b.levelOf(key)
	for _, m := range b.in.NotRun {
		if m.Subject == subject && m.Level == level && m.Planned {
			return m.Reason
		}
	}
	return ""
}
