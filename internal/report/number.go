package report

import (
	"math"
	"strconv"

	"sweep/internal/stats"
)

const unknown = stats.Unknown

// signed writes a difference in per cent: "+32.1 %".
func signed(v float64) string { return percent(v) + " %" }

// percent is signed under a heading that has the unit.
func percent(v float64) string {
	if math.Abs(v) < 0.05 {
		return "±0.0"
	}
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if math.Abs(v) >= 1000 {
		s = stats.Digits(v)
	}
	if v > 0 {
		s = "+" + s
	}
	return s
}

// span writes the range of a figure over repeats; nothing for one repeat.
func span(f Figure) string {
	if f.N < 2 || f.Low == nil || f.High == nil {
		return ""
	}
	return between(*f.Low, *f.High)
}

// between writes two ends of a range alike.
func between(low, high float64) string {
	return stats.DigitsAs(low, high) + "–" + stats.Digits(high)
}
