package sim

import (
	"encoding/json"
	"strconv"
	"time"
)

// weightVersion is what sglang reports until weights are updated in place.
const weightVersion = "default"

// events builds the events of one stream in one growing buffer: the text so far
// stays in front, only the tail is written anew for each. So a token costs a
// few appends, whatever came before.
type events struct {
	pieces pieces
	call   *call
	delta  bool // send new text only, not the text so far
	buf    []byte
	end    int // where the text ends in buf
	sent   int // tokens in the text
	id     []byte
}

const eventHead = `data: {"text":"`

func newEvents(p pieces, c *call, delta bool) *events {
	id, _ := json.Marshal(c.id) // a string always encodes
	e := &events{pieces: p, call: c, delta: delta, id: id}
	e.buf = append(make([]byte, 0, 1024), eventHead...)
	e.end = len(e.buf)
	return e
}

// upTo is the event that carries the text of the first n tokens. The slice is
// valid until the next call.
func (e *events) upTo(n int) []byte {
	b := e.buf[:e.end]
	if e.delta {
		b = b[:len(eventHead)]
	}
	for ; e.sent < n; e.sent++ {
		piece, _ := e.pieces.at(e.call, e.sent)
		b = append(b, piece...)
	}
	e.end = len(b)
	b = append(b, `","meta_info":`...)
	b = appendMeta(b, e.call, e.id, n, time.Time{})
	e.buf = append(b, "}\n\n"...)
	return e.buf
}

// appendMeta appends a request's meta_info after n tokens. A now that is not
// zero adds e2e_latency, which only whole answers carry here.
func appendMeta(b []byte, c *call, id []byte, n int, now time.Time) []byte {
	b = append(b, `{"id":`...)
	b = append(b, id...)
	b = append(b, `,"finish_reason":`...)
	switch {
	case n < c.seq.Output:
		b = append(b, "null"...)
	case c.natural:
		b = append(b, `{"type":"stop","matched":2}`...)
	default:
		b = append(b, `{"type":"length","length":`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, '}')
	}
	b = append(b, `,"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(c.seq.Prompt), 10)
	b = append(b, `,"weight_version":"`+weightVersion+`","num_retractions":0,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, `,"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(c.seq.Cached), 10)
	if !now.IsZero() {
		b = append(b, `,"e2e_latency":`...)
		b = strconv.AppendFloat(b, now.Sub(c.received).Seconds(), 'f', 6, 64)
	}
	return append(b, '}')
}
