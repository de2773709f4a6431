package stats

import (
	"math"
	"slices"
	"testing"
)

// The expected figures were printed by numpy 2.4.6: np.percentile, np.mean,
// np.std of the same samples.
func TestPercentileIsNumpys(t *testing.T) {
	sorted := []float64{0.5, 1.25, 3.5, 4, 4, 7.125, 9.75}
	for p, want := range map[float64]float64{
		0: 0.5, 10: 0.9500000000000001, 25: 2.375, 50: 4, 90: 8.175, 95: 8.962499999999999, 99: 9.5925, 100: 9.75,
	} {
		if got := Percentile(sorted, p); got != want {
			t.Errorf("p%v = %v, numpy says %v", p, got, want)
		}
	}
	if got := Percentile([]float64{7}, 99); got != 7 {
		t.Errorf("p99 of one sample = %v, want 7", got)
	}
	if got := Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("p50 of nothing = %v, want NaN", got)
	}
}

func TestSummarize(t *testing.T) {
	samples := []float64{3.5, 1.25, 9.75, 4, 4, 7.125, 0.5}
	before := slices.Clone(samples)
	s := Summarize(samples)
	if !slices.Equal(samples, before) {
		t.Errorf("the samples were reordered: %v", samples)
	}
	for _, c := range []struct {
		name string
		got  *float64
		want float64
	}{
		{"mean", s.Mean, 4.303571428571429}, {"std", s.Std, 2.9819824593305544}, {"p50", s.P50, 4}, {"p90", s.P90, 8.175},
		{"p95", s.P95, 8.962499999999999}, {"p99", s.P99, 9.5925}, {"max", s.Max, 9.75},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if s.N != 7 {
		t.Errorf("n = %d, want 7", s.N)
	}
}

func TestSummarizeOfNothingIsNil(t *testing.T) {
	for _, samples := range [][]float64{nil, {}, {math.NaN(), math.Inf(1), math.Inf(-1)}} {
		if s := Summarize(samples); s != (Summary{}) {
			t.Errorf("Summarize(%v) = %+v, want n 0 and nils", samples, s)
		}
		if m := Median(samples); m != nil {
			t.Errorf("Median(%v) = %v, want nil", samples, *m)
		}
	}
	if s := Summarize([]float64{math.NaN(), 2, math.Inf(1), 4}); s.N != 2 || *s.Mean != 3 || *s.Max != 4 {
		t.Errorf("non-finite samples were not left out: n %d", s.N)
	}
}

func TestMedian(t *testing.T) {
	if m := Median([]float64{9, 1, 4, 2}); m == nil || *m != 3 {
		t.Errorf("median = %v, want 3", m)
	}
}
