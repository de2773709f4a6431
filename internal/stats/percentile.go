// Package stats holds the arithmetic behind every figure: exact percentiles
// from all samples, never from buckets. It imports nothing of sweep's.
package stats

import (
	"math"
	"slices"
)

// Percentile returns the p-th percentile (0 to 100) of samples that are sorted
// in ascending order, by linear interpolation between the two nearest ranks:
// numpy's default method, which sglang.bench_serving uses, down to its way of
// rounding. It is NaN when there are no samples.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	rank := min(max(p, 0), 100) / 100 * float64(len(sorted)-1)
	below := int(rank)
	above := min(below+1, len(sorted)-1)
	a, b, t := sorted[below], sorted[above], rank-float64(below)
	if t >= 0.5 { // numpy starts from the nearer end, so that results are monotonic
		return b - (b-a)*(1-t)
	}
	return a + (b-a)*t
}

// Median returns the 50th percentile of samples in any order, nil when there
// are none. The samples are left as they are.
func Median(samples []float64) *float64 {
	sorted := sortedFinite(samples)
	if len(sorted) == 0 {
		return nil
	}
	m := Percentile(sorted, 50)
	return &m
}

// sortedFinite is a sorted copy without NaN and infinities.
func sortedFinite(samples []float64) []float64 {
	kept := make([]float64, 0, len(samples))
	for _, x := range samples {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			kept = append(kept, x)
		}
	}
	slices.Sort(kept)
	return kept
}
