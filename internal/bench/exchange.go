package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// arrival is one chunk with output tokens.
type arrival struct {
	at     time.Duration
	tokens int32
	lag    lag
}

// lag is how long after the kernel received bytes this program read them, in
// nanoseconds, up to four seconds. Without a time from the kernel it is
// unstamped, and the bytes count as received when they were read.
type lag uint32

const unstamped lag = math.MaxUint32

// mostReserved bounds the chunks that a request reserves room for, so that
// keeping one does not allocate.
const mostReserved = 1024

// trace is what one request experienced. Times count from the start of the
// loop's clock, on the monotonic clock.
type trace struct {
	index, slot         int
	content             uint64 // a hash of the prompt
	askedIn, askedOut   int
	scheduled           time.Duration // when it could have been sent; paced: when it was meant to be
	paced               bool          // sent at a time of its own: latencies count from scheduled
	sent                time.Duration // just before it was written
	end                 time.Duration // last byte of the stream, or the moment it failed
	lastByte            time.Duration // of the response with its framing; 0: not one byte came
	firstText           time.Duration // 0: no visible text
	prompt, out, cached int           // as the server counted; -1: it did not say
	arrivals            []arrival
	uncounted           bool   // visible text came without a token count: chunks say nothing about tokens
	finish              string // the finish reason
	over                bool   // [DONE] was seen
	problem             string // why the request failed; empty: it succeeded
	inStream            bool   // it failed by an event inside a 200 stream
	cut                 bool   // ended by us: max-level or an interruption
}

// ok tells whether the request succeeded.
func (t *trace) ok() bool { return t.problem == "" }

// exchange is a request on its way: the bytes to send, and the readers that
// turn the bytes that come back into a trace. Only one goroutine uses it at a
// time.
type exchange struct {
	trace
	wire []byte // the whole HTTP request

	response response
	frames   frames
	now      time.Duration // when the piece that is being read came
	lag      lag           // of that piece
	head     []byte        // the first bytes of the body, for messages
	events   int
	beyond   error // the stream goes on beyond what was asked for
	tokens   bool  // the last piece brought tokens or text

	onBody  func([]byte) error // x.body and x.event, bound once: binding allocates
	onEvent func([]byte)
}

func newExchange(index, askedIn, askedOut int, wire []byte) *exchange {
	x := &exchange{wire: wire, trace: trace{index: index, askedIn: askedIn, askedOut: askedOut, prompt: -1, out: -1, cached: -1}}
	x.onBody, x.onEvent = x.body, x.event
	return x
}

// reserve makes room for the chunks that are asked for.
func (x *exchange) reserve() {
	if x.arrivals == nil {
		x.arrivals = make([]arrival, 0, min(x.askedOut, mostReserved))
	}
}

// receive reads bytes that came at the given time. It reports whether they
// brought tokens or text; done tells when the response is complete. After bytes
// beyond the response the connection is not used again.
func (x *exchange) receive(piece []byte, at time.Duration, late lag) (tokens bool, err error) {
	x.now, x.lag, x.tokens, x.lastByte = at, late, false, at
	n, err := x.response.feed(piece, x.onBody)
	if err == nil && n < len(piece) {
		x.response.close = true
	}
	if err == nil && x.response.done() {
		err = cmp.Or(x.frames.end(x.onEvent), x.beyond)
	}
	return x.tokens, err
}

// overlong is the end of a stream that goes on beyond what was asked for: it
// may never end by itself. Streams without counts are judged by their events.
func (x *exchange) overlong() error {
	if x.out > x.askedOut {
		return fmt.Errorf("the server counts %d output tokens, %d were asked for", x.out, x.askedOut)
	}
	if x.out < 0 && x.events > 8*x.askedOut+1024 {
		return fmt.Errorf("%d events without a token count, for %d tokens asked for", x.events, x.askedOut)
	}
	return nil
}

func (x *exchange) complete() bool { return x.response.done() }

// body takes the response's body as it comes.
func (x *exchange) body(data []byte) error {
	x.end = x.now
	if room := maxComplaint - len(x.head); room > 0 {
		x.head = append(x.head, data[:min(room, len(data))]...)
	}
	if x.response.status != 200 {
		return nil
	}
	err := x.frames.feed(data, x.onEvent)
	return cmp.Or(x.beyond, err)
}

// event takes one server-sent event.
func (x *exchange) event(data []byte) {
	if x.beyond != nil { // however much came in one piece, the exchange ended before this
		return
	}
	x.events++
	s := scan(data)
	x.over = x.over || s.over
	x.prompt, x.cached = max(x.prompt, s.prompt), max(x.cached, s.cached)
	if s.finish != "" {
		x.finish = s.finish
	}
	if s.failed && !x.inStream {
		x.inStream = true
		x.problem = "error in the stream: " + complaint(data)
		if s.finish == "abort" {
			x.problem = "aborted by the server: " + complaint(data)
		}
	}
	if s.text && x.firstText == 0 {
		x.firstText = x.now
	}
	switch {
	case s.output > max(x.out, 0):
		x.arrivals = append(x.arrivals, arrival{at: x.now, tokens: int32(s.output - max(x.out, 0)), lag: x.lag})
		x.tokens = true
	case s.output < 0 && s.text:
		x.uncounted, x.tokens = true, true
	}
	x.out = max(x.out, s.output)
	x.beyond = x.overlong()
}

// finished ends the trace. transport is what ended the exchange other than a
// complete response, nil when the response is complete. Success needs a finish
// reason or [DONE], and a token count by the server: nothing is ever credited
// because it was asked for.
func (x *exchange) finished(at time.Duration, transport error) {
	if transport != nil || x.end == 0 {
		x.end = at
	}
	status := x.response.status
	switch {
	case x.problem != "": // an event told already
	case status/100 == 3 && x.response.location != "":
		x.problem = fmt.Sprintf("HTTP %d: redirected to %s; redirects are not followed, give the server's own URL", status, clean([]byte(x.response.location), maxComplaint))
	case status != 0 && status != 200 && (transport == nil || len(x.head) > 0):
		x.problem = fmt.Sprintf("HTTP %d", status)
		if body := clean(x.head, maxComplaint); body != "" {
			x.problem += ": " + body
		}
	case transport != nil:
		x.problem = transport.Error()
	case x.events == 0 && len(x.head) == 0:
		x.problem = "HTTP 200 with an empty body"
	case x.events == 0:
		x.problem = "HTTP 200 without an event stream: " + clean(x.head, maxComplaint)
	case x.finish == "" && !x.over:
		x.problem = "the stream ended without a finish reason or [DONE]"
	case x.out < 0:
		x.problem = "the server sent no token count"
	case x.out == 0:
		x.problem = "no output token"
	}
	x.wire, x.head = nil, nil
	if cap(x.arrivals) > 2*len(x.arrivals) { // a refused or short answer, several tokens a chunk
		x.arrivals = slices.Clone(x.arrivals)
	}
}

// untouched tells whether not one byte of a response came.
func (x *exchange) untouched() bool { return x.lastByte == 0 }

// closed is called when the server has closed the connection.
func (x *exchange) closed() error {
	if err := x.response.end(); err != nil {
		return err
	}
	return cmp.Or(x.frames.end(x.onEvent), x.beyond)
}
