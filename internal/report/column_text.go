package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/stats"
)

// textColumns lists what a terminal shows of a level beside the names: the
// result first, then what it is compared with, then what one user sees. The
// columns of all levels of a table are the same, but for the unit of times.
func textColumns(t Table, l Level, with form) []column {
	median := func(get func(Figures) Figure) func(Row) string {
		return func(r Row) string { return stats.Figure(get(r.Figures).Median) }
	}
	output := median(func(f Figures) Figure { return f.Output })
	list := []column{{"", "output tok/s", output}}
	if repeated(t) {
		list = []column{{"output tok/s", "median", output}, {"output tok/s", "± %", func(r Row) string { return spread(r.Figures.Output) }}}
	}
	if to := t.against(); to != "" {
		head := "base %"
		if len(t.Sides) > 1 {
			head = "A %"
		}
		list = append(list, column{"Δ to", head, delta})
	}
	list = append(list, column{"", "n", runsBehind})
	if hasGoodput(t) {
		list = append(list, column{"goodput", "req/s", median(func(f Figures) Figure { return f.Goodput })}, column{"goodput", "% ok", goodShare})
	}
	list = append(list, column{"per", "stream", median(func(f Figures) Figure { return f.PerStream })})
	for _, time := range []struct {
		name     string
		p50, p99 func(Figures) Figure
	}{
		{"TTFT", func(f Figures) Figure { return f.TTFTp50 }, func(f Figures) Figure { return f.TTFTp99 }},
		{"TPOT", func(f Figures) Figure { return f.TPOTp50 }, func(f Figures) Figure { return f.TPOTp99 }},
		{"E2E", func(f Figures) Figure { return f.E2Ep50 }, func(f Figures) Figure { return f.E2Ep99 }},
	} {
		if time.name == "E2E" && !with.e2e {
			continue
		}
		unit, per := timeUnit(l, time.p99)
		show := func(get func(Figures) Figure) func(Row) string {
			return func(r Row) string { return stats.Figure(scaled(get(r.Figures).Median, per)) }
		}
		list = append(list, column{time.name + " " + unit, "p50", show(time.p50)}, column{time.name + " " + unit, "p99", show(time.p99)})
	}
	if with.record {
		list = append(list,
			column{"", "input tok/s", median(func(f Figures) Figure { return f.Input })},
			column{"", "total tok/s", median(func(f Figures) Figure { return f.Total })})
	}
	return list
}

// longTime is from where on milliseconds are hard to read.
const longTime = 100_000

// timeUnit is the unit that a level's times are shown in, and how many
// milliseconds it has: the same for all rows, so that they can be compared.
func timeUnit(l Level, p99 func(Figures) Figure) (unit string, ms float64) {
	if slices.ContainsFunc(l.Rows, func(r Row) bool {
		v := p99(r.Figures).Median
		return v != nil && *v >= longTime
	}) {
		return "s", 1000
	}
	return "ms", 1
}

func scaled(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	s := *v / by
	return &s
}

// spread is how far the farthest repeat lies from the median, in per cent;
// nothing for one repeat.
func spread(f Figure) string {
	if f.N < 2 || f.Median == nil || f.Low == nil || f.High == nil || *f.Median == 0 {
		return ""
	}
	far := max(*f.High-*f.Median, *f.Median-*f.Low)
	return strconv.FormatFloat(math.Abs(far / *f.Median)*100, 'f', 1, 64)
}

// delta is a row's difference to what it is compared with, in per cent.
func delta(r Row) string {
	switch {
	case r.Delta != nil:
		return percent(r.Delta.Percent) + r.Delta.marks()
	case r.SameRuns:
		return "same"
	case r.Baseline:
		return "base"
	default:
		return unknown
	}
}

// runsBehind is the n of a row, and after a stroke that of what it is compared
// with.
func runsBehind(r Row) string {
	if r.Delta == nil {
		return strconv.Itoa(r.N)
	}
	return fmt.Sprintf("%d/%d", r.Delta.N, r.Delta.BaselineN)
}

// place is a row's rank on a terminal, or a cross when something went wrong.
func place(r Row) string {
	if r.Verdict == "invalid" || r.Failed {
		return "✗"
	}
	return rankOf(r)
}

// label is a row's name on a terminal with what a reader of its figures must
// know, and in brackets the footnotes that tell more.
func label(t Table, r Row) string {
	parts := []string{spaced(title(r))}
	if r.Baseline && len(t.Sides) < 2 && !t.changes {
		parts = append(parts, "baseline")
	}
	if r.Verdict != "" && r.Planned > r.N {
		parts = append(parts, fmt.Sprintf("%d of %d runs", r.N, r.Planned))
	}
	if r.SameRuns {
		parts = append(parts, "same runs")
	}
	word := r.Verdict
	if word == "valid" {
		word = "note"
	}
	if r.Verdict == "invalid" && r.Reason != "" {
		word += ", " + r.Reason
	}
	for _, n := range r.Notes {
		word += fmt.Sprintf(" [%d]", n)
	}
	if r.Verdict == "suspect" || r.Verdict == "invalid" || len(r.Notes) > 0 {
		parts = append(parts, word)
	}
	return strings.Join(parts, " · ")
}
