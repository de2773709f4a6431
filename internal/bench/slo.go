package bench

import (
	"fmt"
	"strings"
	"time"
)

// String names the limits: "TTFT ≤ 100 ms and TPOT ≤ 20 ms". Without limits it
// is empty.
func (s SLO) String() string {
	var limits []string
	for _, l := range []struct {
		name string
		most time.Duration
	}{{"TTFT", s.TTFT}, {"TPOT", s.TPOT}, {"E2E", s.E2E}} {
		switch {
		case l.most == 0:
		case l.most%time.Second == 0:
			limits = append(limits, fmt.Sprintf("%s ≤ %d s", l.name, l.most/time.Second))
		default:
			limits = append(limits, fmt.Sprintf("%s ≤ %g ms", l.name, ms(l.most)))
		}
	}
	if n := len(limits); n > 1 {
		return strings.Join(limits[:n-1], ", ") + " and " + limits[n-1]
	}
	return strings.Join(limits, "")
}
