package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sweep/internal/stats"
)

// Table writes a measurement for a person, within 80 columns. Output tokens
// come first; input and total are labelled, so that none can be taken for
// another.
func Table(w io.Writer, m Measurement) error {
	var b strings.Builder
	l := m.Level.Workload
	if m.Simulated {
		b.WriteString("SIMULATED: every figure is from a simulated server, none from hardware\n")
	}
	fmt.Fprintf(&b, "%s: %s requests of up to %s in, %s out (range ratio %v, seed %d)\n",
		m.Level, stats.Count(m.Asked), stats.Count(l.InputLen), stats.Count(l.OutputLen), l.RangeRatio, l.Seed)
	if m.Ended != Complete {
		fmt.Fprintf(&b, "ENDED EARLY: %s\n", m.Ended)
	}
	b.WriteByte('\n')
	row := func(label string, x *float64, remark string) {
		fmt.Fprintf(&b, "%-22s %12s  %s\n", label, stats.Figure(x), remark)
	}
	window, filled := fmt.Sprintf("whole window, %s s", stats.Digits(m.Window)), "there was none"
	if m.Steady != nil {
		filled = fmt.Sprintf("all slots filled, %s s", stats.Digits(m.Steady.Seconds))
	}
	switch {
	case m.Ended == AtMaxLevel:
		row("output tok/s", m.Headline(), "steady state: "+filled)
		row("  with ramp and drain", m.OutputThroughput, window)
	case m.Steady != nil:
		row("output tok/s", m.Headline(), window)
		row("  steady state", m.Steady.OutputThroughput, filled)
	default:
		row("output tok/s", m.Headline(), window)
	}
	row("  best second", m.PeakOutputThroughput, "output tok/s")
	row("  per stream", m.PerStream, "output tok/s, 1000 / median TPOT")
	row("input tok/s", m.InputThroughput, "prompt tokens as the server counted")
	row("total tok/s", m.TotalThroughput, "input + output")
	row("requests/s", m.RequestThroughput, "successful")
	if m.GoodputShare != nil {
		row("goodput req/s", m.Goodput, fmt.Sprintf("within every limit: %.1f %% of issued", 100**m.GoodputShare))
		fmt.Fprintf(&b, "  limits: %s\n", m.SLO)
	}
	row("in flight, mean", m.ConcurrencyMean, "peak "+stats.Count(m.ConcurrencyPeak))

	fmt.Fprintf(&b, "\n%-10s %8s %12s %12s %12s %12s\n", "ms", "n", "p50", "p90", "p99", "max")
	for _, d := range []struct {
		name string
		dist Dist
	}{{"TTFT", m.TTFT}, {"TTFT text", m.TTFTText}, {"TPOT", m.TPOT}, {"ITL", m.ITL}, {"chunk gap", m.ChunkGap}, {"E2E", m.E2E}} {
		fmt.Fprintf(&b, "%-10s %8s %12s %12s %12s %12s\n", d.name, stats.Count(d.dist.N),
			stats.Figure(d.dist.P50), stats.Figure(d.dist.P90), stats.Figure(d.dist.P99), stats.Figure(d.dist.Max))
	}

	fmt.Fprintf(&b, "\nrequests  %s asked, %s issued, %s completed, %s failed, %s with short output\n",
		stats.Count(m.Asked), stats.Count(m.Issued), stats.Count(m.Completed), stats.Count(m.Failed), stats.Count(m.Short))
	for _, reason := range slices.SortedFunc(maps.Keys(m.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Errors[b], m.Errors[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "  %s x %s\n", stats.Count(m.Errors[reason]), shorten(reason, 66))
	}
	if m.Cut > 0 {
		fmt.Fprintf(&b, "  %s cut off by us while in flight\n", stats.Count(m.Cut))
	}
	in := stats.Unknown
	if m.InputTokens != nil {
		in = stats.Count(*m.InputTokens)
	}
	fmt.Fprintf(&b, "tokens    %s in, %s out", in, stats.Count(m.OutputTokens))
	if m.OutputLen.Min != nil {
		fmt.Fprintf(&b, "; %s to %s out a request", stats.Count(int64(*m.OutputLen.Min)), stats.Count(int64(*m.OutputLen.Max)))
	}
	b.WriteByte('\n')
	fmt.Fprintf(&b, "warm-up   %d requests; cache flush: %s\n", m.Warmup, shorten(m.Flush, 50))
	fmt.Fprintf(&b, "client    CPU %s of its cores; p99 of send lag %s, event lag %s ms; %d redials\n", percent(m.Client.CPUShare),
		stats.Figure(m.Client.SendLag.P99), stats.Figure(m.Client.EventLag.P99), m.Client.Redials)
	_, err := io.WriteString(w, b.String())
	return err
}

func percent(share *float64) string {
	if share == nil {
		return stats.Unknown
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

// shorten cuts a text to at most limit characters.
func shorten(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}
