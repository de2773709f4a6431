package report

import "fmt"

// practical is the difference of two medians, in per cent of the lower one, up
// to which configurations count as equal: starts of one and the same server
// differ by as much.
const practical = 2.0

// near tells that two medians differ by no more than the practical threshold.
func near(x, y Figure) bool {
	low, high := min(*x.Median, *y.Median), max(*x.Median, *y.Median)
	return high-low <= low*practical/100
}

// overlap tells that two ranges have a point in common. One run is a range of
// one point.
func overlap(x, y Figure) bool { return *x.Low <= *y.High && *y.Low <= *x.High }

// tie marks the ranked rows that cannot be told from the first one.
func tie(rows []Row) {
	for i := range rows {
		if i == 0 || rows[i].Rank == 0 {
			continue
		}
		if first, other := rows[0].Figures.Output, rows[i].Figures.Output; near(first, other) || overlap(first, other) {
			rows[0].Tied, rows[i].Tied = true, true
		}
	}
}

// tied are the rows of a level that share its first place; none where one row
// has it alone.
func tied(l Level) []Row {
	var rows []Row
	for _, r := range l.Rows {
		if r.Tied {
			rows = append(rows, r)
		}
	}
	return rows
}

// whyTied says what makes a tie of rows that begin with the best.
func whyTied(rows []Row) string {
	allNear, allOverlap, allSame := true, true, true
	for _, r := range rows[1:] {
		x, y := rows[0].Figures.Output, r.Figures.Output
		allNear, allOverlap = allNear && near(x, y), allOverlap && overlap(x, y)
		n := common(rows[0].Runs, r.Runs)
		allSame = allSame && n > 0 && n == len(r.Runs) && n == len(rows[0].Runs)
	}
	switch {
	case allSame:
		return "same runs"
	case allNear:
		return withinPractical()
	case allOverlap:
		return "ranges overlap"
	default:
		return withinPractical() + " or ranges overlap"
	}
}

// meaningOfTilde explains the mark behind a Δ.
func meaningOfTilde() string {
	return "~ no difference shown: " + withinPractical() + " or ranges overlap"
}

// withinPractical is the threshold in words.
func withinPractical() string { return fmt.Sprintf("within %g %%", practical) }
