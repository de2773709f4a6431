package report

import (
	"cmp"
	"slices"

	"sweep/internal/bench"
)

// levels groups all measurements by their key: nothing else is ever compared.
func (b *builder) levels() []Level {
	type group struct {
		order int
		m     bench.Measurement // any one
	}
	groups := map[string]group{}
	planned := map[string]int{}
	for i, l := range b.in.Levels {
		planned[l.Key()] = i
	}
	for _, c := range b.cells {
		for _, run := range c.runs {
			for _, m := range run.Measurements {
				if _, ok := groups[m.Key]; ok {
					continue
				}
				order, ok := planned[m.Key]
				if !ok && b.in.Night != "" && len(planned) > 0 {
					continue // a night shows what it asked for; another file measured this too
				}
				if !ok {
					order = len(planned) + len(groups)
				}
				groups[m.Key] = group{order, m}
			}
		}
	}
	var keys []string
	for key := range groups {
		keys = append(keys, key)
	}
	single := func(m bench.Measurement) int { // single stream first
		if m.Level.Mode == bench.Closed && m.Level.Concurrency == 1 {
			return 0
		}
		return 1
	}
	slices.SortFunc(keys, func(x, y string) int {
		a, b := groups[x], groups[y]
		return cmp.Or(cmp.Compare(single(a.m), single(b.m)), cmp.Compare(a.order, b.order))
	})
	var levels []Level
	var all []bench.Measurement
	for _, key := range keys {
		all = append(all, groups[key].m)
	}
	for _, m := range all {
		if l := b.level(m, all); len(l.Rows) > 0 {
			levels = append(levels, l)
		}
	}
	return levels
}

// level builds the rows of one key. m is one of its measurements, all has one
// of each key.
func (b *builder) level(m bench.Measurement, all []bench.Measurement) Level {
	_, planned := slices.BinarySearch(b.plannedKeys(), m.Key)
	slo := b.limits(m.Key)
	l := Level{Key: m.Key, Name: levelName(m, all), Heading: heading(m, all), Goodput: slo.String()}
	for _, c := range b.cells {
		row, measured := b.row(c, m.Key, slo)
		if !measured && !planned && row.Reason == "" {
			continue // this side never meant to measure it
		}
		l.Rows = append(l.Rows, row)
	}
	l.Marks = commonMarks(measuredRows(l.Rows), func(r Row) []string { return r.Marks })
	for i := range l.Rows {
		if len(l.Marks) > 0 {
			l.Rows[i].Marks = slices.DeleteFunc(l.Rows[i].Marks, func(m string) bool { return slices.Contains(l.Marks, m) })
		}
	}
	rank(l.Rows)
	b.compare(l.Rows)
	l.Rows = slices.DeleteFunc(l.Rows, func(r Row) bool { return b.in.Subjects[r.cell.subject].Hidden })
	rank(l.Rows)
	tie(l.Rows)
	l.Footnotes = b.footnotes(l.Rows, m.Key)
	l.Footnotes = append(l.Footnotes, b.otherLimits(l.Rows, m.Key, slo, len(l.Footnotes))...)
	l.Footnotes = append(l.Footnotes, steadies(l.Rows, len(l.Footnotes))...)
	return l
}

func (b *builder) plannedKeys() []string {
	var keys []string
	for _, l := range b.in.Levels {
		keys = append(keys, l.Key())
	}
	slices.Sort(keys)
	return keys
}

func measuredRows(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Verdict == "" })
}

// commonMarks is the marks that all of some things have.
func commonMarks[T any](things []T, marks func(T) []string) []string {
	var common []string
	for i, t := range things {
		if i == 0 {
			common = slices.Clone(marks(t))
		}
		common = slices.DeleteFunc(common, func(m string) bool { return !slices.Contains(marks(t), m) })
	}
	return common
}
