package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

const msec = time.Millisecond

// scripted is a successful request that got its chunks at the given times.
func scripted(slot int, sent time.Duration, chunks ...arrival) trace {
	t := trace{slot: slot, scheduled: sent, sent: sent, prompt: 10, askedIn: 10, cached: 0, arrivals: chunks, finish: "length", over: true}
	for _, c := range chunks {
		t.out += int(c.tokens)
		t.end, t.lastByte = c.at, c.at
	}
	t.askedOut, t.firstText = t.out, chunks[0].at
	return t
}

func failed(slot int, sent, end time.Duration, problem string) trace {
	return trace{slot: slot, scheduled: sent, sent: sent, end: end, lastByte: end, problem: problem, prompt: -1, out: -1, cached: -1}
}

func closed(slots, prompts int) Level {
	return Level{Mode: Closed, Concurrency: slots, Prompts: prompts, Workload: Workload{InputLen: 10, OutputLen: 4, RangeRatio: 1}}
}

func near(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is null, want %v", name, want)
	} else if math.Abs(*got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", name, *got, want)
	}
}

// Two slots, four requests, every time known: all figures by hand.
//
//	slot 0: |sent 1000, tokens at 1200 1300 1400 1500 |sent 1500, 1800 2000 2200 2400, [DONE] 2500
//	slot 1:    |sent 1100, 2 tokens at 1300, 2 at 1500       |sent 2000, one token at 3100
func TestAggregateExactly(t *testing.T) {
	second := scripted(0, 1500*msec, arrival{at: 1800 * msec, tokens: 1}, arrival{at: 2000 * msec, tokens: 1}, arrival{at: 2200 * msec, tokens: 1}, arrival{at: 2400 * msec, tokens: 1})
	second.end, second.lastByte = 2500*msec, 2500*msec
	last := scripted(1, 2000*msec, arrival{at: 3100 * msec, tokens: 1})
	last.scheduled = 1990 * msec
	last.askedOut, last.content = 4, 1
	last.prompt = 11
	traces := []trace{
		scripted(0, 1000*msec, arrival{at: 1200 * msec, tokens: 1}, arrival{at: 1300 * msec, tokens: 1}, arrival{at: 1400 * msec, tokens: 1}, arrival{at: 1500 * msec, tokens: 1}),
		scripted(1, 1100*msec, arrival{at: 1300 * msec, tokens: 2}, arrival{at: 1500 * msec, tokens: 2}),
		second, last,
	}
	m := aggregate(closed(2, 4), SLO{TTFT: 250 * msec, TPOT: 150 * msec}, traces)

	if m.Asked != 4 || m.Issued != 4 || m.Completed != 4 || m.Failed != 0 || m.Short != 1 || *m.Mismatch != 1 || m.DistinctPrompts != 2 {
		t.Errorf("counts: %+v", m)
	}
	if *m.InputTokens != 41 || m.OutputTokens != 13 || m.AskedInputTokens != 40 || m.AskedOutputTokens != 16 {
		t.Errorf("tokens: in %d of %d, out %d of %d", *m.InputTokens, m.AskedInputTokens, m.OutputTokens, m.AskedOutputTokens)
	}
	if m.CachedTokens == nil || *m.CachedTokens != 0 {
		t.Errorf("cached tokens %v, want 0", m.CachedTokens)
	}
	near(t, "window", &m.Window, 2.1)
	near(t, "output", m.OutputThroughput, 13/2.1)
	near(t, "input", m.InputThroughput, 41/2.1)
	near(t, "total", m.TotalThroughput, 54/2.1)
	near(t, "requests/s", m.RequestThroughput, 4/2.1)
	near(t, "peak", m.PeakOutputThroughput, 10) // [1200, 2200): 4 + 4 + 2
	near(t, "concurrency", m.ConcurrencyMean, (500+400+1000+1100)/2100.)
	if m.ConcurrencyPeak != 2 {
		t.Errorf("peak concurrency %d, want 2", m.ConcurrencyPeak)
	}

	// TTFT 200, 200, 300, 1100; TPOT 100, 200/3, 700/3, none.
	near(t, "ttft p50", m.TTFT.P50, 250)
	near(t, "ttft max", m.TTFT.Max, 1100)
	near(t, "ttft mean", m.TTFT.Mean, 450)
	near(t, "e2e p50", m.E2E.P50, 750) // 500, 400, 1000, 1100
	near(t, "tpot p50", m.TPOT.P50, 100)
	near(t, "tpot max", m.TPOT.Max, 700/3.)
	near(t, "per stream", m.PerStream, 10)
	if m.TPOT.N != 3 || m.TTFT.N != 4 {
		t.Errorf("n of tpot %d, of ttft %d", m.TPOT.N, m.TTFT.N)
	}
	// Gaps 3 × 100 of one token, 200 of two tokens, 3 × 200 of one.
	near(t, "chunk gap mean", m.ChunkGap.Mean, (300+200+600)/7.)
	near(t, "itl mean", m.ITL.Mean, (300+2*100+600)/8.)
	if m.ITL.N != 8 || m.ChunkGap.N != 7 {
		t.Errorf("n of itl %d, of chunk gaps %d", m.ITL.N, m.ChunkGap.N)
	}

	// Within 250 ms and 150 ms: the first two.
	near(t, "goodput", m.Goodput, 2/2.1)
	near(t, "goodput share", m.GoodputShare, 0.5)

	// From slot 1's first send at 1100 to the last send at 2000.
	if m.Steady == nil {
		t.Fatal("no steady state")
	}
	near(t, "steady seconds", &m.Steady.Seconds, 0.9)
	if m.Steady.OutputTokens != 10 {
		t.Errorf("steady tokens %d, want 10", m.Steady.OutputTokens)
	}
	near(t, "steady output", m.Steady.OutputThroughput, 10/0.9)
	near(t, "slot share", m.Client.SlotShare, (400+400+500)/1800.)
	near(t, "first wave", m.Client.FirstWave, 100)
	near(t, "send lag max", m.Client.SendLag.Max, 10)
}

// A failed request takes time and nothing else.
func TestAggregateWithFailures(t *testing.T) {
	bad := failed(1, 0, 1000*msec, "HTTP 503: busy")
	m := aggregate(closed(2, 3), SLO{TTFT: time.Second}, []trace{
		scripted(0, 0, arrival{at: 500 * msec, tokens: 1}, arrival{at: 1000 * msec, tokens: 1}), bad, failed(1, 1000*msec, 2000*msec, "HTTP 503: busy")})
	if m.Completed != 1 || m.Failed != 2 || m.Errors["HTTP 503: busy"] != 2 {
		t.Errorf("completed %d, failed %d, errors %v", m.Completed, m.Failed, m.Errors)
	}
	near(t, "window", &m.Window, 2)
	near(t, "output", m.OutputThroughput, 1)
	near(t, "goodput share", m.GoodputShare, 1/3.) // of all issued, not of the survivors
	if m.TTFT.N != 1 || m.E2E.N != 1 {
		t.Errorf("failed requests are among the latencies: %+v", m.E2E)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	var traces []trace
	for i := range 100 {
		traces = append(traces, failed(0, time.Duration(i)*msec, time.Duration(i+1)*msec, strings.Repeat("x", i+1)))
	}
	m := aggregate(closed(1, 100), SLO{}, traces)
	sum := 0
	for _, n := range m.Errors {
		sum += n
	}
	if len(m.Errors) > maxReasons+1 || sum != 100 {
		t.Errorf("%d reasons for %d failures", len(m.Errors), sum)
	}
}

// Per-token time of one-token outputs, or of outputs that came at once, is not
// zero: it was not measured.
func TestC01PerTokenTimeIsNullBelowTwoTokens(t *testing.T) {
	m := aggregate(closed(1, 2), SLO{}, []trace{
		scripted(0, 0, arrival{at: 100 * msec, tokens: 1}),
		scripted(0, 200*msec, arrival{at: 1300 * msec, tokens: 4}),
	})
	if m.TPOT != (Dist{}) || m.PerStream != nil || m.ITL != (Dist{}) || m.ChunkGap != (Dist{}) {
		t.Errorf("tpot %+v, per stream %v, itl %+v", m.TPOT, m.PerStream, m.ITL)
	}
	// A latency of zero, or a clock that went backwards, is no latency.
	odd := scripted(0, 100*msec, arrival{at: 100 * msec, tokens: 1}, arrival{at: 90 * msec, tokens: 1})
	if odd.ttft() != nil || odd.e2e() != nil || odd.tpot() != nil {
		t.Errorf("ttft %v, e2e %v, tpot %v", odd.ttft(), odd.e2e(), odd.tpot())
	}
}

// Nothing completed: every metric is null and the measurement is still JSON.
func TestC09NothingCompleted(t *testing.T) {
	for name, traces := range map[string][]trace{
		"all failed":      {failed(0, 0, 10*msec, "x"), failed(0, 10*msec, 20*msec, "x")},
		"nothing sent":    nil,
		"not one byte":    {{sent: 5 * msec, end: 10 * msec, problem: "x", out: -1, prompt: -1, cached: -1}},
		"all at one time": {failed(0, 0, 0, "x")},
	} {
		m := aggregate(closed(1, 2), SLO{E2E: time.Second}, traces)
		for metric, x := range map[string]*float64{"output": m.OutputThroughput, "input": m.InputThroughput, "total": m.TotalThroughput,
			"peak": m.PeakOutputThroughput, "per stream": m.PerStream, "requests": m.RequestThroughput, "goodput": m.Goodput,
			"goodput share": m.GoodputShare, "concurrency": m.ConcurrencyMean, "ttft": m.TTFT.P50, "e2e": m.E2E.Mean, "output length": m.OutputLen.Mean} {
			if x != nil {
				t.Errorf("%s: %s = %v, want null", name, metric, *x)
			}
		}
		if _, err := json.Marshal(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if m.Failed != len(traces) || m.Window < 0 {
			t.Errorf("%s: failed %d, window %v", name, m.Failed, m.Window)
		}
	}
}

// Requests that never came back count as failed: issued - completed.
func TestC13SumsClose(t *testing.T) {
	m := aggregate(closed(2, 4), SLO{}, []trace{
		scripted(0, 0, arrival{at: 10 * msec, tokens: 1}), failed(1, 0, 20*msec, "lost"), scripted(0, 10*msec, arrival{at: 20 * msec, tokens: 1}),
	})
	if m.Asked != 4 || m.Issued != 3 || m.Completed+m.Failed != m.Issued || m.Failed != 1 {
		t.Errorf("asked %d, issued %d, completed %d, failed %d", m.Asked, m.Issued, m.Completed, m.Failed)
	}
}

func TestUnknownInputStaysUnknown(t *testing.T) {
	silent := scripted(0, 0, arrival{at: 500 * msec, tokens: 1})
	silent.prompt, silent.cached = -1, -1
	m := aggregate(closed(1, 1), SLO{}, []trace{silent})
	unknown := func(name string, m Measurement) {
		t.Helper()
		if m.InputTokens != nil || m.InputThroughput != nil || m.TotalThroughput != nil || m.CachedTokens != nil || m.Mismatch != nil {
			t.Errorf("%s: input tokens %v, tok/s %v, total %v, cached %v, mismatch %v", name, m.InputTokens, m.InputThroughput, m.TotalThroughput, m.CachedTokens, m.Mismatch)
		}
	}
	unknown("never counted", m)
	near(t, "output", m.OutputThroughput, 2)
	unknown("nothing completed", aggregate(closed(1, 1), SLO{}, []trace{failed(0, 0, msec, "x")}))

	// One prompt that was not counted makes the sum unknown; a failed one does not.
	counted := scripted(0, 500*msec, arrival{at: 1000 * msec, tokens: 1})
	unknown("one of two", aggregate(closed(1, 2), SLO{}, []trace{counted, silent}))
	m = aggregate(closed(1, 2), SLO{}, []trace{counted, failed(0, 0, 500*msec, "x")})
	if m.InputTokens == nil || *m.InputTokens != 10 || m.CachedTokens == nil || m.Mismatch == nil || *m.Mismatch != 0 {
		t.Errorf("a failed request hides the count of the others: %+v", m)
	}
	text := closed(1, 1)
	text.Workload.Text = "prompts.jsonl"
	if m = aggregate(text, SLO{}, []trace{counted}); m.InputTokens == nil || m.Mismatch != nil {
		t.Errorf("text has no length that was asked for: input %v, mismatch %v", m.InputTokens, m.Mismatch)
	}
}

// Where text comes without counts, chunks say nothing about tokens.
func TestUncountedText(t *testing.T) {
	quiet := scripted(0, 0, arrival{at: 2000 * msec, tokens: 20})
	quiet.uncounted, quiet.firstText = true, 100*msec
	m := aggregate(closed(1, 1), SLO{}, []trace{quiet})
	near(t, "ttft by text", m.TTFT.P50, 100)
	near(t, "tpot", m.TPOT.P50, 100)
	if m.PeakOutputThroughput != nil || m.ITL.N != 0 {
		t.Errorf("peak %v, itl n %d", m.PeakOutputThroughput, m.ITL.N)
	}
}

func TestSteadyState(t *testing.T) {
	one := func(slot int, sent time.Duration) trace {
		return scripted(slot, sent, arrival{at: sent + 50*msec, tokens: 1})
	}
	burst := Level{Mode: Burst, Concurrency: 2, Workload: closed(1, 1).Workload}
	for name, c := range map[string]struct {
		level  Level
		traces []trace
		want   bool
	}{
		"closed loop":           {closed(2, 3), []trace{one(0, 0), one(1, 10*msec), one(0, 60*msec)}, true},
		"burst":                 {burst, []trace{one(0, 0), one(1, 10*msec)}, false},
		"a slot never filled":   {closed(3, 3), []trace{one(0, 0), one(1, 10*msec), one(0, 60*msec)}, false},
		"as many as slots":      {closed(2, 2), []trace{one(0, 0), one(1, 10*msec)}, false},
		"single stream":         {closed(1, 2), []trace{one(0, 0), one(0, 60*msec)}, true},
		"single stream, single": {closed(1, 1), []trace{one(0, 0)}, false},
	} {
		if m := aggregate(c.level, SLO{}, c.traces); (m.Steady != nil) != c.want || (m.Client.SlotShare != nil) != c.want {
			t.Errorf("%s: steady %+v, slot share %v", name, m.Steady, m.Client.SlotShare)
		}
	}
	// What was in flight at max-level did produce; what the server failed did not.
	cut, bad := one(1, 10*msec), one(0, 60*msec)
	cut.cut, cut.problem = true, "cut short"
	bad.problem = "HTTP 500"
	m := aggregate(closed(2, 4), SLO{}, []trace{one(0, 0), cut, bad, one(0, 120*msec)})
	if m.Steady.OutputTokens != 2 {
		t.Errorf("steady tokens %d, want 2", m.Steady.OutputTokens)
	}
}

func TestSLO(t *testing.T) {
	ok := scripted(0, 0, arrival{at: 100 * msec, tokens: 1}, arrival{at: 200 * msec, tokens: 1})
	single := scripted(0, 0, arrival{at: 100 * msec, tokens: 1})
	for name, c := range map[string]struct {
		slo  SLO
		t    trace
		want bool
	}{
		"none":                       {SLO{}, ok, true},
		"all met, on the limit":      {SLO{TTFT: 100 * msec, TPOT: 100 * msec, E2E: 200 * msec}, ok, true},
		"ttft broken":                {SLO{TTFT: 99 * msec}, ok, false},
		"tpot broken":                {SLO{TPOT: 99 * msec}, ok, false},
		"e2e broken":                 {SLO{TTFT: time.Second, E2E: 199 * msec}, ok, false},
		"no time per token to judge": {SLO{TPOT: msec}, single, true},
		"several tokens at once":     {SLO{TPOT: time.Hour}, scripted(0, 0, arrival{at: 100 * msec, tokens: 2}), false},
		"at once, no limit on it":    {SLO{E2E: time.Second}, scripted(0, 0, arrival{at: 100 * msec, tokens: 2}), true},
	} {
		if got := c.slo.met(c.t.request(0)); got != c.want {
			t.Errorf("%s: met %v, want %v", name, got, c.want)
		}
	}
}
