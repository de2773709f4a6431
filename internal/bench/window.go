package bench

import (
	"cmp"
	"slices"
	"time"

	"sweep/internal/stats"
)

// aggregate turns what the requests of a level experienced into its figures.
// It is pure: equal traces give equal figures. Definitions are those of
// sglang.bench_serving where the names are the same, except that the window ends
// with the last byte (that tool's also holds an arrival sleep and a call to the
// server), and that tokens count only when the server counted them.
func aggregate(level Level, slo SLO, traces []trace) Measurement {
	m := Measurement{Schema: Schema, Key: level.Key(), Level: level, Tool: Tool, ToolVersion: ToolVersion,
		Asked: level.requests(), Issued: len(traces)}
	in, out := level.Workload.Lengths(level.requests())
	m.AskedInputTokens, m.AskedOutputTokens = total(in), total(out)
	if len(traces) == 0 {
		return m
	}
	start, end := span(traces)
	m.Window = max(end-start, 0).Seconds()

	m.count(traces)
	if m.Completed > 0 && m.Window > 0 {
		m.rates()
		m.PeakOutputThroughput = peak(traces, start, end)
		m.ConcurrencyMean = ptr(float64(busy(traces, start, end)) / float64(end-start))
	}
	m.latencies(traces)
	m.CountGoodput(slo, requests(traces, start))
	m.ConcurrencyPeak = mostAtOnce(traces)
	m.Steady, m.Client.SlotShare, m.Client.FirstWave = steady(level, traces)
	lags := make([]float64, len(traces))
	for i, t := range traces {
		lags[i] = ms(t.sent - t.scheduled)
	}
	m.Client.SendLag = Dist(stats.Summarize(lags))
	m.Client.EventLag, m.Client.Stamped = eventLag(traces)
	return m
}

// span is the window: from the first send to the last byte of any request.
func span(traces []trace) (start, end time.Duration) {
	start = slices.MinFunc(traces, func(a, b trace) int { return cmp.Compare(a.sent, b.sent) }).sent
	end = slices.MaxFunc(traces, func(a, b trace) int { return cmp.Compare(a.lastByte, b.lastByte) }).lastByte
	return start, end
}

// count sums what can be counted.
func (m *Measurement) count(traces []trace) {
	prompts := map[uint64]bool{}
	lengths := make([]float64, 0, len(traces))
	for _, t := range traces {
		prompts[t.content] = true
		if t.cut {
			m.Cut++ // by us, not by the server
			continue
		}
		if !t.ok() {
			m.countError(t)
			continue
		}
		m.Completed++
		m.OutputTokens += int64(t.out)
		lengths = append(lengths, float64(t.out))
		if t.out < t.askedOut {
			m.Short++
		}
	}
	m.countInput(traces)
	m.Failed = m.Issued - m.Completed - m.Cut
	m.DistinctPrompts = len(prompts)
	if len(lengths) > 0 {
		seen := stats.Summarize(lengths)
		m.OutputLen = Range{Min: ptr(slices.Min(lengths)), Mean: seen.Mean, Max: seen.Max}
	}
}

// countInput sums what the server said about the prompts of the successful
// requests. A sum over some of them would pass for one over all: it is null.
func (m *Measurement) countInput(traces []trace) {
	var input, cached int64
	mismatch, inputKnown, cachedKnown := 0, m.Completed > 0, m.Completed > 0
	for _, t := range traces {
		if !t.ok() {
			continue
		}
		inputKnown, cachedKnown = inputKnown && t.prompt >= 0, cachedKnown && t.cached >= 0
		input, cached = input+int64(t.prompt), cached+int64(t.cached)
		if t.prompt != t.askedIn {
			mismatch++
		}
	}
	if inputKnown {
		m.InputTokens = &input
	}
	if inputKnown && m.Level.Workload.Text == "" { // only of token ids is it known how many were sent
		m.Mismatch = &mismatch
	}
	if cachedKnown {
		m.CachedTokens = &cached
	}
}

// maxReasons bounds how many different failures are kept apart.
const maxReasons = 20

func (m *Measurement) countError(t trace) {
	if t.inStream {
		m.InStream++
	}
	if m.Errors == nil {
		m.Errors = map[string]int{}
	}
	reason := t.problem
	if _, known := m.Errors[reason]; !known && len(m.Errors) >= maxReasons {
		reason = "other reasons, see requests.jsonl"
	}
	m.Errors[reason]++
}

// rates are everything a second of the window.
func (m *Measurement) rates() {
	m.OutputThroughput = ptr(float64(m.OutputTokens) / m.Window)
	m.RequestThroughput = ptr(float64(m.Completed) / m.Window)
	if m.InputTokens != nil {
		m.InputThroughput = ptr(float64(*m.InputTokens) / m.Window)
		m.TotalThroughput = ptr(float64(*m.InputTokens+m.OutputTokens) / m.Window)
	}
}

// latencies summarises the samples of successful requests.
func (m *Measurement) latencies(traces []trace) {
	var ttft, ttftText, e2e, tpot []float64
	for _, t := range traces {
		if !t.ok() {
			continue
		}
		ttft = keep(ttft, t.ttft())
		ttftText = keep(ttftText, t.ttftText())
		e2e = keep(e2e, t.e2e())
		tpot = keep(tpot, t.tpot())
	}
	m.TTFT, m.TTFTText = Dist(stats.Summarize(ttft)), Dist(stats.Summarize(ttftText))
	m.E2E, m.TPOT = Dist(stats.Summarize(e2e)), Dist(stats.Summarize(tpot))
	m.ITL, m.ChunkGap = Dist(stats.Summarize(gaps(traces, true))), Dist(stats.Summarize(gaps(traces, false)))
	if m.TPOT.P50 != nil {
		m.PerStream = ptr(1000 / *m.TPOT.P50)
	}
}

// gaps are the times between the chunks of the successful requests in ms, or
// what each token of the later chunk took of it. There are as many as tokens, so
// that room for them is made once.
func gaps(traces []trace, perToken bool) []float64 {
	n := 0
	for _, t := range traces {
		for i := 1; i < len(t.arrivals) && t.ok() && !t.uncounted; i++ {
			n += copies(t.arrivals[i], perToken)
		}
	}
	all := make([]float64, 0, n)
	for _, t := range traces {
		for i := 1; i < len(t.arrivals) && t.ok() && !t.uncounted; i++ {
			n := copies(t.arrivals[i], perToken)
			gap := ms(t.arrivals[i].at-t.arrivals[i-1].at) / float64(n)
			for range n {
				all = append(all, gap)
			}
		}
	}
	return all
}

// copies is how many samples a chunk gives.
func copies(a arrival, perToken bool) int {
	if perToken {
		return int(a.tokens)
	}
	return 1
}

func keep(samples []float64, x *float64) []float64 {
	if x == nil {
		return samples
	}
	return append(samples, *x)
}

func total(lengths []int) (sum int64) {
	for _, n := range lengths {
		sum += int64(n)
	}
	return sum
}

func ptr(x float64) *float64 { return &x }

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
