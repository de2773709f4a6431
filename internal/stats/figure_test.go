package stats

import (
	"math"
	"testing"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.00012: "0.00012", 0.1234: "0.123", 1.005: "1.00", 9.876: "9.88", 97.02: "97.02", 99.996: "100.0", 704.04: "704.0",
		805: "805.0", 999.96: "1,000", 1237: "1,237", 10240: "10,240", 12345: "12,350", 1234567: "1,235,000", -12.5: "-12.50", -1234: "-1,234",
	} {
		if got := Figure(&v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, v := range []*float64{nil, &nan, &inf} {
		if got := Figure(v); got != Unknown {
			t.Errorf("%v: %s", v, got)
		}
	}
	if got := DigitsAs(9.5, 1234); got != "10" {
		t.Errorf("beside 1,234: %s", got)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 10240: "10,240", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
