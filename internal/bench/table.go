package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Table writes a measurement for a person, within 80 columns. Output tokens
// come first; input and total are labelled, so that none can be taken for
// another.
func Table(w io.Writer, m Measurement) error {
	var b strings.Builder
	l := m.Level.Workload
	fmt.Fprintf(&b, "%s: %d requests of up to %d in, %d out (range ratio %v, seed %d)\n", m.Level, m.Asked, l.InputLen, l.OutputLen, l.RangeRatio, l.Seed)
	if m.Ended != Complete {
		fmt.Fprintf(&b, "ENDED EARLY: %s\n", m.Ended)
	}
	b.WriteByte('\n')
	row := func(label string, x *float64, remark string) {
		fmt.Fprintf(&b, "%-22s %12s  %s\n", label, figure(x), remark)
	}
	row("output tok/s", m.OutputThroughput, fmt.Sprintf("whole window, %.2f s", m.Window))
	if m.Steady != nil {
		row("  steady state", m.Steady.OutputThroughput, fmt.Sprintf("all slots filled, %.2f s", m.Steady.Seconds))
	}
	row("  best second", m.PeakOutputThroughput, "output tok/s")
	row("  per stream", m.PerStream, "output tok/s, 1000 / median TPOT")
	row("input tok/s", m.InputThroughput, "prompt tokens as the server counted")
	row("total tok/s", m.TotalThroughput, "input + output")
	row("requests/s", m.RequestThroughput, "successful")
	if m.GoodputShare != nil {
		row("goodput req/s", m.Goodput, fmt.Sprintf("within every limit: %.1f %% of issued", 100**m.GoodputShare))
	}
	row("in flight, mean", m.ConcurrencyMean, fmt.Sprintf("peak %d", m.ConcurrencyPeak))

	fmt.Fprintf(&b, "\n%-10s %8s %12s %12s %12s %12s\n", "ms", "n", "p50", "p90", "p99", "max")
	for _, d := range []struct {
		name string
		dist Dist
	}{{"TTFT", m.TTFT}, {"TTFT text", m.TTFTText}, {"TPOT", m.TPOT}, {"ITL", m.ITL}, {"chunk gap", m.ChunkGap}, {"E2E", m.E2E}} {
		fmt.Fprintf(&b, "%-10s %8d %12s %12s %12s %12s\n", d.name, d.dist.N,
			figure(d.dist.P50), figure(d.dist.P90), figure(d.dist.P99), figure(d.dist.Max))
	}

	fmt.Fprintf(&b, "\nrequests  %d asked, %d issued, %d completed, %d failed, %d with short output\n", m.Asked, m.Issued, m.Completed, m.Failed, m.Short)
	for _, reason := range slices.SortedFunc(maps.Keys(m.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Errors[b], m.Errors[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "  %d x %s\n", m.Errors[reason], shorten(reason, 66))
	}
	fmt.Fprintf(&b, "tokens    %d in, %d out", m.InputTokens, m.OutputTokens)
	if m.OutputLen.Min != nil {
		fmt.Fprintf(&b, "; %.0f to %.0f out a request", *m.OutputLen.Min, *m.OutputLen.Max)
	}
	b.WriteByte('\n')
	fmt.Fprintf(&b, "warm-up   %d requests; cache %s\n", m.Warmup, shorten(m.Flush, 50))
	fmt.Fprintf(&b, "client    CPU %s of its cores; send lag p99 %s ms; %d redials\n", percent(m.Client.CPUShare), figure(m.Client.SendLag.P99), m.Client.Redials)
	_, err := io.WriteString(w, b.String())
	return err
}

// figure shows a number with thousands separated, "n/a" for one that was not
// measured.
func figure(x *float64) string {
	if x == nil {
		return "n/a"
	}
	digits := 2
	if *x >= 1000 {
		digits = 0
	}
	text := strconv.FormatFloat(*x, 'f', digits, 64)
	whole, fraction, dotted := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		return whole + "." + fraction
	}
	return whole
}

func percent(share *float64) string {
	if share == nil {
		return "n/a"
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
