package report

import (
	"fmt"
	"math"
	"strings"

	"sweep/internal/stats"
)

// rampShare is how far steady state and whole window may lie apart before it
// is said, as a share of the whole window's figure.
const rampShare = 0.10

// steadies says in one footnote of a level, numbered behind the last, where
// ramp-up and drain make the whole window another figure than its steady state,
// and where the figure shown is that of steady state.
func steadies(rows []Row, last int) []Footnote {
	var parts []string
	for i := range rows {
		whole, steady := rows[i].Figures.Whole.Median, rows[i].Figures.Steady.Median
		if rows[i].Rank == 0 || steady == nil || whole == nil || *whole == 0 || !ofSteady(rows[i]) && math.Abs(*steady / *whole - 1) <= rampShare {
			continue
		}
		rows[i].Notes = append(rows[i].Notes, last+1)
		shown := ""
		if ofSteady(rows[i]) {
			shown = ", the figure shown since max-level ended the level"
		}
		parts = append(parts, fmt.Sprintf("row %d: %s over %s s%s, whole window %s over %s s", rows[i].Rank, stats.Figure(steady),
			stats.Figure(rows[i].Figures.SteadySeconds.Median), shown, stats.Figure(whole), stats.Figure(rows[i].Figures.Window.Median)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Footnote{{Number: last + 1, Grade: "note", Code: "steady-state",
		Text: "ramp-up and drain weigh on the whole window; output tok/s in steady state: " + strings.Join(parts, "; ")}}
}

// ofSteady tells that a row shows its steady state: max-level ended it early.
func ofSteady(r Row) bool {
	shown, whole := r.Figures.Output.Median, r.Figures.Whole.Median
	return shown != nil && (whole == nil || *shown != *whole)
}
