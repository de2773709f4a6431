package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/stats"
)

// column is one thing that is shown of a row. Columns with the same group
// stand together under its name, which says what is measured in which unit.
type column struct {
	group, head string
	cell        func(Row) string
}

// columns lists what a page shows of a level, the most important first.
func columns(t Table, l Level) []column {
	repeated := slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Figures.Output.N > 1 })
	compared, to := t.Baseline != "", "Δ to baseline"
	if len(t.Sides) > 1 {
		compared, to = true, "Δ to side A"
	}
	figure := func(get func(Figures) Figure) func(Row) string {
		return func(r Row) string { return stats.Figure(get(r.Figures).Median) }
	}
	list := []column{{"output tok/s", medianHead(repeated), figure(func(f Figures) Figure { return f.Output })}}
	if repeated {
		list = append(list, column{"output tok/s", "range", func(r Row) string { return span(r.Figures.Output) }})
	}
	list = append(list, column{"output tok/s", "n", repeats})
	if compared {
		list = append(list,
			column{to, "output", deltaOf},
			column{to, "n", func(r Row) string {
				if r.Delta == nil {
					return ""
				}
				return fmt.Sprintf("%d/%d", r.Delta.N, r.Delta.BaselineN)
			}})
	}
	if l.Goodput != "" {
		list = append(list,
			column{"goodput", "req/s", figure(func(f Figures) Figure { return f.Goodput })},
			column{"goodput", "% of issued", goodShare})
	}
	return append(list,
		column{"output tok/s", "per stream", figure(func(f Figures) Figure { return f.PerStream })},
		column{"TTFT ms", "p50", figure(func(f Figures) Figure { return f.TTFTp50 })},
		column{"TTFT ms", "p99", figure(func(f Figures) Figure { return f.TTFTp99 })},
		column{"TPOT ms", "p50", figure(func(f Figures) Figure { return f.TPOTp50 })},
		column{"TPOT ms", "p99", figure(func(f Figures) Figure { return f.TPOTp99 })},
		column{"E2E ms", "p50", figure(func(f Figures) Figure { return f.E2Ep50 })},
		column{"E2E ms", "p99", figure(func(f Figures) Figure { return f.E2Ep99 })},
		column{"", "input tok/s", figure(func(f Figures) Figure { return f.Input })},
		column{"", "total tok/s", figure(func(f Figures) Figure { return f.Total })},
	)
}

func medianHead(repeated bool) string {
	if repeated {
		return "median"
	}
	return ""
}

// repeats is the n of a row, with what was planned where that is more.
func repeats(r Row) string {
	if r.Planned > r.N {
		return fmt.Sprintf("%d of %d", r.N, r.Planned)
	}
	return strconv.Itoa(r.N)
}

func deltaOf(r Row) string {
	switch {
	case r.Delta != nil:
		return strings.TrimRight(signed(r.Delta.Percent)+" "+r.Delta.marks(), " ")
	case r.SameRuns:
		return "same runs"
	case r.Baseline:
		return "baseline"
	default:
		return unknown
	}
}

// marks are the signs behind a difference: what it is worth.
func (d Delta) marks() string {
	s := ""
	if d.Unproven {
		s += "~"
	}
	if d.Hosts {
		s += "†"
	}
	return s
}

// goodShare is the share of the issued requests within the limits, in per cent.
func goodShare(r Row) string {
	if r.Figures.GoodputShare.Median == nil {
		return unknown
	}
	return strconv.FormatFloat(*r.Figures.GoodputShare.Median*100, 'f', 1, 64)
}

// rankOf is a row's place; rows that are not ranked have none.
func rankOf(r Row) string {
	if r.Rank == 0 {
		return "–"
	}
	return strconv.Itoa(r.Rank)
}

// mark shows the verdict of a row and the footnotes that explain it: "!1,2".
func mark(r Row) string {
	s := ""
	switch {
	case r.Verdict == "suspect":
		s = "!"
	case r.Verdict == "invalid" || r.Failed:
		s = "✗"
	case len(r.Notes) > 0:
		s = "·"
	}
	numbers := make([]string, len(r.Notes))
	for i, n := range r.Notes {
		numbers[i] = strconv.Itoa(n)
	}
	return s + strings.Join(numbers, ",")
}

// reasoned is the row's title, and why it is invalid.
func reasoned(r Row) string {
	if r.Verdict == "invalid" && r.Reason != "" {
		return title(r) + " (" + r.Reason + ")"
	}
	return title(r)
}

// title is the row's name with what a reader of its figures must know.
func title(r Row) string {
	s := r.Name
	for _, m := range r.Marks {
		s += " [" + m + "]"
	}
	return s
}
