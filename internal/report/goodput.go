package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/bench"
)

// limits are what goodput is shown for at a level: those of the first
// measurement that has it. Goodput under other limits is never set beside it.
func (b *builder) limits(key string) bench.SLO {
	for _, c := range b.cells {
		for _, run := range c.runs {
			if m := measurementOf(run, key); m != nil && m.SLO != (bench.SLO{}) && m.Goodput != nil {
				return m.SLO
			}
		}
	}
	return bench.SLO{}
}

// commonLimits are those of all levels that have goodput; empty when they
// differ.
func commonLimits(levels []Level) string {
	limits := ""
	for _, l := range levels {
		switch {
		case l.Goodput == "":
		case limits == "":
			limits = l.Goodput
		case l.Goodput != limits:
			return ""
		}
	}
	return limits
}

// otherLimits names the runs whose goodput was counted under other limits than
// the level shows, in footnotes numbered from behind the last.
func (b *builder) otherLimits(rows []Row, key string, slo bench.SLO, last int) []Footnote {
	if slo == (bench.SLO{}) {
		return nil
	}
	var notes []Footnote
	for i := range rows {
		runs := map[bench.SLO][]string{}
		var order []bench.SLO
		for _, run := range rows[i].cell.runs {
			m := measurementOf(run, key)
			if m == nil || m.SLO == slo {
				continue
			}
			if !slices.Contains(order, m.SLO) {
				order = append(order, m.SLO)
			}
			runs[m.SLO] = append(runs[m.SLO], run.Name)
		}
		for _, other := range order {
			counted := "was counted with " + other.String()
			if other == (bench.SLO{}) {
				counted = "was not counted: no limits were set"
			}
			notes = append(notes, Footnote{Number: last + len(notes) + 1, Grade: "note", Code: "goodput",
				Text: fmt.Sprintf("not shown, it %s (run %s)", counted, strings.Join(runs[other], ", run "))})
			rows[i].Notes = append(rows[i].Notes, last+len(notes))
		}
	}
	return notes
}

// hasGoodput tells whether any level of a table shows goodput.
func hasGoodput(t Table) bool {
	return slices.ContainsFunc(t.Levels, func(l Level) bool { return l.Goodput != "" })
}

// meaningOfGoodput says what was counted, under a level's limits.
func meaningOfGoodput(limits string) string { return "goodput: requests with " + limits }
