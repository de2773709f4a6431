package bench

import (
	"cmp"
	"slices"
	"time"
)

// busy is the time that requests were in flight between two moments, added up
// over all requests. Divided by the length it is the mean concurrency.
func busy(traces []trace, from, to time.Duration) (sum time.Duration) {
	for _, t := range traces {
		sum += max(min(t.end, to)-max(t.sent, from), 0)
	}
	return sum
}

// mostAtOnce is the largest number of requests in flight at one moment. A slot
// that sends at the moment its last request ended counts once.
func mostAtOnce(traces []trace) int {
	type change struct {
		at time.Duration
		by int
	}
	changes := make([]change, 0, 2*len(traces))
	for _, t := range traces {
		changes = append(changes, change{t.sent, 1}, change{t.end, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// peak is the output of the best second of the window, in output tokens a
// second, by the arrival of chunks with counts: any second, not only those that
// start at a whole one. Null for a window below a second and where text came
// without counts.
func peak(traces []trace, start, end time.Duration) *float64 {
	if end-start < time.Second {
		return nil
	}
	n := 0
	for _, t := range traces {
		if t.ok() && t.uncounted {
			return nil
		}
		n += len(t.arrivals)
	}
	all := make([]arrival, 0, n)
	for _, t := range traces {
		if t.ok() {
			all = append(all, t.arrivals...)
		}
	}
	slices.SortFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	best, sum, first := 0, 0, 0
	for _, a := range all {
		sum += int(a.tokens)
		for a.at-all[first].at >= time.Second {
			sum -= int(all[first].tokens)
			first++
		}
		best = max(best, sum)
	}
	return ptr(float64(best))
}

// steady is the part of a closed loop without ramp-up and drain: from the first
// send of the last slot to the last send of all. Beside it the share of the
// slots that were filled then, and the time from the first slot's first send to
// the last slot's. Null where a slot was never filled or there is no such part,
// and for an open loop, which has no slots to fill.
func steady(level Level, traces []trace) (s *Steady, slotShare, firstWave *float64) {
	first := map[int]time.Duration{}
	from, to := traces[0].sent, traces[0].sent
	for _, t := range traces {
		if at, seen := first[t.slot]; !seen || t.sent < at {
			first[t.slot] = t.sent
		}
		from, to = min(from, t.sent), max(to, t.sent)
	}
	start := from
	for _, at := range first {
		from = max(from, at)
	}
	if level.Mode == Open || len(first) < level.slots() {
		return nil, nil, nil
	}
	firstWave = ptr(ms(from - start))
	if level.Mode == Burst || to <= from {
		return nil, nil, firstWave
	}
	s = &Steady{Seconds: (to - from).Seconds()}
	counted := true
	for _, t := range traces {
		if !t.ok() && !t.cut { // what the server failed is nobody's output
			continue
		}
		counted = counted && !t.uncounted
		for _, a := range t.arrivals {
			if a.at > from && a.at <= to {
				s.OutputTokens += int64(a.tokens)
			}
		}
	}
	if counted {
		s.OutputThroughput = ptr(float64(s.OutputTokens) / s.Seconds)
	}
	slotShare = ptr(float64(busy(traces, from, to)) / (float64(to-from) * float64(level.slots())))
	return s, slotShare, firstWave
}
