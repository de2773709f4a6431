package bench

import "sweep/internal/stats"

// eventLag is how long chunks with tokens had waited in the kernel before the
// client read them, in ms, and the share of them whose time is the kernel's. The
// kernel's time does not become wrong when a client is late: a large lag says
// that the client was busy, not that the figures are off.
func eventLag(traces []trace) (d Dist, share *float64) {
	n := 0
	for _, t := range traces {
		n += len(t.arrivals)
	}
	lags := make([]float64, 0, n)
	for _, t := range traces {
		for _, a := range t.arrivals {
			if a.lag != unstamped {
				lags = append(lags, float64(a.lag)/1e6)
			}
		}
	}
	if n > 0 {
		share = ptr(float64(len(lags)) / float64(n))
	}
	return Dist(stats.Summarize(lags)), share
}
