package bench

import "time"

// CountGoodput counts the successful requests that stay within every limit of
// slo, each judged for itself: as a rate over the window and as a share of all
// that were issued. Both are null without a limit. Called again with the
// requests of a level it gives the goodput under other limits.
func (m *Measurement) CountGoodput(slo SLO, requests []Request) {
	m.SLO, m.Goodput, m.GoodputShare = slo, nil, nil
	if slo == (SLO{}) || m.Completed == 0 || m.Window <= 0 {
		return
	}
	good := 0
	for _, r := range requests {
		if r.Error == "" && slo.met(r) {
			good++
		}
	}
	m.Goodput = ptr(float64(good) / m.Window)
	m.GoodputShare = ptr(float64(good) / float64(m.Issued))
}

// met tells whether a request stays within every limit. A limit on the time per
// token says nothing about a request of one output token. Of two tokens or more
// that came all at once it was not met: nobody has seen it met.
func (s SLO) met(r Request) bool {
	within := func(limit time.Duration, seen *float64, needed bool) bool {
		return limit == 0 || seen == nil && !needed || seen != nil && *seen <= ms(limit)
	}
	several := r.OutputTok != nil && *r.OutputTok >= 2
	return within(s.TTFT, r.TTFT, true) && within(s.TPOT, r.TPOT, several) && within(s.E2E, r.E2E, true)
}
