package bench

import "testing"

func TestHeadline(t *testing.T) {
	whole, steady := ptr(100), ptr(200)
	for name, c := range map[string]struct {
		m    Measurement
		want *float64
	}{
		"complete":                {Measurement{Ended: Complete, OutputThroughput: whole, Steady: &Steady{OutputThroughput: steady}}, whole},
		"complete, nothing came":  {Measurement{Ended: Complete}, nil},
		"max-level":               {Measurement{Ended: AtMaxLevel, OutputThroughput: whole, Steady: &Steady{OutputThroughput: steady}}, steady},
		"max-level, never steady": {Measurement{Ended: AtMaxLevel, OutputThroughput: whole}, nil},
		"max-level, not counted":  {Measurement{Ended: AtMaxLevel, OutputThroughput: whole, Steady: &Steady{}}, nil},
		"stalled":                 {Measurement{Ended: Stalled, OutputThroughput: whole, Steady: &Steady{OutputThroughput: steady}}, whole},
	} {
		if got := c.m.Headline(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
