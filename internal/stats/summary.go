package stats

import "math"

// Summary describes samples, in their own unit. N is always known; the other
// figures are nil when there are no samples.
type Summary struct {
	N    int
	Mean *float64
	Std  *float64 // of the population (divided by n), as numpy's std is by default
	P50  *float64
	P90  *float64
	P95  *float64
	P99  *float64
	Max  *float64
}

// Summarize describes samples in any order and leaves them as they are.
// NaN and infinities are no measurements: they are left out, and N says how
// many samples stand behind the figures.
func Summarize(samples []float64) Summary {
	sorted := sortedFinite(samples)
	n := len(sorted)
	if n == 0 {
		return Summary{}
	}
	at := func(p float64) *float64 { x := Percentile(sorted, p); return &x }
	mean, std := moments(sorted)
	return Summary{N: n, Mean: &mean, Std: &std,
		P50: at(50), P90: at(90), P95: at(95), P99: at(99), Max: at(100)}
}

// moments returns the mean and the population standard deviation, in two
// passes so that large offsets do not cancel.
func moments(samples []float64) (mean, std float64) {
	n := float64(len(samples))
	for _, x := range samples {
		mean += x
	}
	mean /= n
	var squares float64
	for _, x := range samples {
		squares += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(squares / n)
}
