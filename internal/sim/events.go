package sim

import (
	"encoding/json"
	"strconv"
	"time"
)

// weightVersion is what sglang reports until weights are updated in place.
const weightVersion = "default"

// events is the form of POST /generate. It builds the events of one stream in
// one growing buffer: the text so far stays in front, only the tail is written
// anew for each. So a token costs a few appends, whatever came before.
type events struct {
	server *server
	call   *call
	delta  bool // send new text only, not the text so far
	buf    []byte
	end    int // where the text ends in buf
	sent   int // tokens in the text
	checks int // decode steps that made them
	id     []byte
}

const eventHead = `data: {"text":"`

func newEvents(s *server, c *call) *events {
	id, _ := json.Marshal(c.id) // a string always encodes
	delta := s.args.Bool("incremental_streaming_output") || s.args.Bool("stream_output")
	e := &events{server: s, call: c, delta: delta, id: id}
	e.buf = append(make([]byte, 0, 1024), eventHead...)
	e.end = len(e.buf)
	return e
}

// upTo is the event that carries the text of the first n tokens.
func (e *events) upTo(n int) []byte { return e.event(n, "") }

// abort is the same with a finish reason of its own.
func (e *events) abort(n int, why string) []byte { return e.event(n, why) }

func (e *events) tail() []byte { return nil }

func (e *events) fail(_ int, why string) []byte { return nativeError(why) }

func (e *events) event(n int, why string) []byte {
	b := e.buf[:e.end]
	if e.delta {
		b = b[:len(eventHead)]
	}
	if e.server.timing.setup.Spec.on() && n > 1 {
		e.checks += e.server.timing.verifies(e.call.seq.seed, max(e.sent, 1), n)
	}
	for ; e.sent < n; e.sent++ {
		piece, _ := e.server.pieces.at(e.call, e.sent)
		b = append(b, piece...)
	}
	e.end = len(b)
	b = append(b, `","meta_info":`...)
	b = e.meta(b, n, why, time.Time{})
	e.buf = append(b, "}\n\n"...)
	return e.buf
}

// whole is the answer without a stream.
func (e *events) whole(n int, why string, now time.Time) ([]byte, error) {
	e.event(n, why) // counts the steps
	var text []byte
	ids := make([]int, n)
	for k := range ids {
		var piece string
		piece, ids[k] = e.server.pieces.at(e.call, k)
		text = append(text, piece...)
	}
	return json.Marshal(map[string]any{
		"text": string(text), "output_ids": ids, "meta_info": json.RawMessage(e.meta(nil, n, why, now)),
	})
}

// meta appends a request's meta_info after n tokens. A now that is not zero
// adds e2e_latency, which only whole answers carry here.
func (e *events) meta(b []byte, n int, why string, now time.Time) []byte {
	c := e.call
	number := func(name string, v int) {
		b = append(b, name...)
		b = strconv.AppendInt(b, int64(v), 10)
	}
	b = append(b, `{"id":`...)
	b = append(b, e.id...)
	b = append(b, `,"finish_reason":`...)
	switch {
	case why != "":
		b = append(b, `{"type":"abort","message":`...)
		b = strconv.AppendQuote(b, why)
		b = append(b, `,"status_code":null,"err_type":null}`...)
	case n < c.seq.Output:
		b = append(b, "null"...)
	case c.natural:
		b = append(b, `{"type":"stop","matched":2}`...)
	default:
		number(`{"type":"length","length":`, n)
		b = append(b, '}')
	}
	number(`,"prompt_tokens":`, c.prompt)
	number(`,"weight_version":"`+weightVersion+`","num_retractions":`, int(c.retract.Load()))
	number(`,"completion_tokens":`, n)
	number(`,"cached_tokens":`, c.seq.Cached)
	if e.checks > 0 {
		number(`,"spec_verify_ct":`, e.checks)
		b = append(b, `,"spec_accept_length":`...)
		b = strconv.AppendFloat(b, float64(n)/float64(e.checks), 'f', 4, 64)
	}
	if !now.IsZero() {
		b = append(b, `,"e2e_latency":`...)
		b = strconv.AppendFloat(b, now.Sub(c.received).Seconds(), 'f', 6, 64)
	}
	return append(b, '}')
}
