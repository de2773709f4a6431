package verdict

import (
	"fmt"
	"math"
	"strings"

	"sweep/internal/bench"
)

// peakWindow is the shortest window, in seconds, whose best second must reach
// its mean: below it, one second's rounding decides.
const peakWindow = 5

// arithmetic checks that the figures of a level fit each other. Field cases:
// a headline that was input plus output, a peak below its mean because chunks
// were counted as tokens, a per-token time of zero or below.
func arithmetic(x measured, l Limits) *sight {
	m := x.m
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }

	for _, f := range figures(m) {
		if f.value != nil && (math.IsNaN(*f.value) || math.IsInf(*f.value, 0) || *f.value < 0) {
			say("%s is %g", f.name, *f.value)
		}
	}
	if in, out, total := m.InputThroughput, m.OutputThroughput, m.TotalThroughput; in != nil && out != nil && total != nil &&
		!near(*total, *in+*out, l.Arithmetic) {
		say("%.4g total tok/s is not %.4g input + %.4g output tok/s", *total, *in, *out)
	}
	tokens := func(what string, rate *float64, n *int64) {
		if rate != nil && n != nil && !near(*rate*m.Window, float64(*n), l.Arithmetic) {
			say("%.4g %s tok/s over a window of %.4g s are not the %d %s tokens that were counted", *rate, what, m.Window, *n, what)
		}
	}
	tokens("output", m.OutputThroughput, &m.OutputTokens)
	tokens("input", m.InputThroughput, m.InputTokens)
	if peak, mean := m.PeakOutputThroughput, m.OutputThroughput; peak != nil && mean != nil && chunksAreTokens(m) &&
		m.Window >= peakWindow && *peak < *mean*(1-l.Arithmetic) {
		say("the best second has %.4g output tok/s, below the mean of %.4g", *peak, *mean)
	}
	if m.Completed < 0 || m.Cut < 0 || m.Failed != m.Issued-m.Completed-m.Cut || m.Issued > m.Asked || m.Completed > m.Issued {
		say("%d asked, %d issued, %d completed, %d failed and %d cut requests do not add up", m.Asked, m.Issued, m.Completed, m.Failed, m.Cut)
	}
	if m.Ended == bench.Complete && m.Issued < m.Asked {
		say("the level says that it is complete with %d of %d requests issued", m.Issued, m.Asked)
	}
	if len(wrong) == 0 {
		return nil
	}
	return &sight{Invalid, strings.Join(wrong, "; "), "figures fit each other within " + percent(l.Arithmetic)}
}

// chunksAreTokens tells whether every chunk held one token, so that the best
// second was counted in tokens: inter-token latency has one value a token, the
// chunk gap one a chunk.
func chunksAreTokens(m bench.Measurement) bool {
	return m.ITL.N > 0 && m.ITL.N == m.ChunkGap.N
}

// near tells whether a and b differ by at most the share of the larger.
func near(a, b, share float64) bool {
	return math.Abs(a-b) <= share*max(math.Abs(a), math.Abs(b))
}

type figure struct {
	name  string
	value *float64
}

// figures lists every number of a measurement that must be finite and not
// negative.
func figures(m bench.Measurement) []figure {
	list := []figure{
		{"window", &m.Window},
		{"output throughput", m.OutputThroughput},
		{"input throughput", m.InputThroughput},
		{"total token throughput", m.TotalThroughput},
		{"peak output throughput", m.PeakOutputThroughput},
		{"output speed per stream", m.PerStream},
		{"request throughput", m.RequestThroughput},
		{"goodput", m.Goodput},
		{"mean concurrency", m.ConcurrencyMean},
		{"client's CPU time", m.Client.CPUSeconds},
	}
	if m.Steady != nil {
		list = append(list, figure{"steady state", &m.Steady.Seconds}, figure{"output throughput in steady state", m.Steady.OutputThroughput})
	}
	for _, d := range []struct {
		name string
		dist bench.Dist
	}{{"ttft", m.TTFT}, {"ttft of text", m.TTFTText}, {"e2e", m.E2E}, {"tpot", m.TPOT}, {"itl", m.ITL}, {"chunk gap", m.ChunkGap}} {
		list = append(list,
			figure{d.name + " mean", d.dist.Mean}, figure{d.name + " std", d.dist.Std}, figure{d.name + " p50", d.dist.P50},
			figure{d.name + " p90", d.dist.P90}, figure{d.name + " p95", d.dist.P95}, figure{d.name + " p99", d.dist.P99},
			figure{d.name + " max", d.dist.Max})
	}
	return list
}
