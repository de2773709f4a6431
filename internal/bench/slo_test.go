package bench

import (
	"strings"
	"testing"
	"time"
)

func TestSLOInWords(t *testing.T) {
	for want, slo := range map[string]SLO{
		"":                               {},
		"E2E ≤ 2 s":                      {E2E: 2 * time.Second},
		"TTFT ≤ 100 ms and TPOT ≤ 20 ms": {TTFT: 100 * time.Millisecond, TPOT: 20 * time.Millisecond},
		"TTFT ≤ 1500 ms, TPOT ≤ 12.5 ms and E2E ≤ 60 s": {TTFT: 1500 * time.Millisecond, TPOT: 12500 * time.Microsecond, E2E: time.Minute},
	} {
		if got := slo.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a reader of every figure must know comes first, the limits where goodput
// is.
func TestTableNamesSimulationAndLimits(t *testing.T) {
	m := aggregate(closed(1, 2), SLO{TTFT: 100 * time.Millisecond}, []trace{scripted(0, 0, arrival{at: 50 * msec, tokens: 1}, arrival{at: 90 * msec, tokens: 1500})})
	for _, simulated := range []bool{true, false} {
		m.Simulated = simulated
		var b strings.Builder
		if err := Table(&b, m); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); strings.HasPrefix(out, "SIMULATED: every figure") != simulated || !strings.Contains(out, "\n  limits: TTFT ≤ 100 ms\n") || !strings.Contains(out, "1,501 out") {
			t.Error(out)
		}
	}
}
