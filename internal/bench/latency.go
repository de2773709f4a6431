package bench

import "time"

// from is the moment that latencies count from: the send, or in an open loop the
// moment the send was meant for, so that a client or a server that is late hides
// nothing.
func (t *trace) from() time.Duration {
	if t.paced {
		return t.scheduled
	}
	return t.sent
}

// ttft is the time to the first output token in ms: to the first chunk that
// brings one by the server's count, or to the first text where the server sends
// text without counts. Null when there was none.
func (t *trace) ttft() *float64 {
	var first time.Duration
	if len(t.arrivals) > 0 {
		first = t.arrivals[0].at
	}
	if t.uncounted && t.firstText > 0 && (first == 0 || t.firstText < first) {
		first = t.firstText
	}
	return since(t.from(), first)
}

// ttftText is the time to the first visible text, content or reasoning, in ms.
func (t *trace) ttftText() *float64 { return since(t.from(), t.firstText) }

// e2e is the time to the last byte of the stream in ms.
func (t *trace) e2e() *float64 { return since(t.from(), t.end) }

// tpot is (e2e - ttft) / (output tokens - 1) in ms. It is null below two output
// tokens, and where everything came at once: a time of zero would pass every
// limit without having been measured.
func (t *trace) tpot() *float64 {
	e2e, ttft := t.e2e(), t.ttft()
	if t.out < 2 || e2e == nil || ttft == nil || *e2e <= *ttft {
		return nil
	}
	return ptr((*e2e - *ttft) / float64(t.out-1))
}

// since is a positive duration in ms, null otherwise.
func since(from, to time.Duration) *float64 {
	if to <= from {
		return nil
	}
	return ptr(ms(to - from))
}

// request is the line of requests.jsonl, with times from the window's start.
// Latencies of a failed request are what was seen before it failed.
func (t *trace) request(start time.Duration) Request {
	count := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	r := Request{Index: t.index, Sent: ms(t.sent - start), TTFT: t.ttft(), TTFTText: t.ttftText(),
		AskedIn: t.askedIn, AskedOut: t.askedOut, PromptTok: count(t.prompt), OutputTok: count(t.out), CachedTok: count(t.cached),
		Chunks: len(t.arrivals), Finish: t.finish, Error: t.problem, InStream: t.inStream}
	if t.paced {
		r.Due = ptr(ms(t.scheduled - start))
	}
	if t.ok() {
		r.E2E, r.TPOT = t.e2e(), t.tpot()
	}
	return r
}

// requests are the lines of requests.jsonl, in the order of the traces.
func requests(traces []trace, start time.Duration) []Request {
	list := make([]Request, len(traces))
	for i := range traces {
		list[i] = traces[i].request(start)
	}
	return list
}
