package stats

import (
	"math"
	"strconv"
	"strings"
)

// Unknown stands where a figure is not known.
const Unknown = "n/a"

// Figure writes a number as every table shows it: with three to four
// significant digits and thousands separators. What is not known, or no number,
// is n/a.
func Figure(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return Unknown
	}
	return Digits(*v)
}

// Digits is Figure of a number that is known to be one.
func Digits(v float64) string { return DigitsAs(v, v) }

// DigitsAs writes v with as many decimals as other would have, so that the two
// can stand beside each other.
func DigitsAs(v, other float64) string {
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
	return separated(strconv.FormatFloat(math.Round(v/scale)*scale, 'f', 0, 64))
}

// Count writes a whole number with thousands separators, all its digits kept.
func Count[T int | int64](n T) string { return separated(strconv.FormatInt(int64(n), 10)) }

func separated(s string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
