package report

import (
	"math"
	"strconv"
	"strings"
)

const unknown = "n/a"

// number writes a figure with three to four significant digits and thousands
// separators; what is not known, or no number, is n/a.
func number(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return unknown
	}
	return digits(*v)
}

func digits(v float64) string { return digitsAs(v, v) }

// digitsAs writes v with as many decimals as other would have, so that the two
// can stand beside each other.
func digitsAs(v, other float64) string {
	a := math.Abs(other)
	switch {
	case a == 0 && v == 0:
		return "0"
	case a < 0.001 || a >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 99.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 999.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	scale := math.Pow(10, max(0, math.Floor(math.Log10(a))-3)) // keeps four digits
	return thousands(strconv.FormatFloat(math.Round(v/scale)*scale, 'f', 0, 64))
}

func thousands(s string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// signed writes a difference in per cent: "+32.1 %".
func signed(v float64) string { return percent(v) + " %" }

// percent is signed under a heading that has the unit.
func percent(v float64) string {
	if math.Abs(v) < 0.05 {
		return "±0.0"
	}
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if math.Abs(v) >= 1000 {
		s = digits(v)
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
	return digitsAs(*f.Low, *f.High) + "–" + digits(*f.High)
}
