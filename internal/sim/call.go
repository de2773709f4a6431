package sim

import (
	"sync/atomic"
	"time"
)

// call is one generation in flight: the bridge between the engine, which makes
// tokens, and the handler, which writes them.
type call struct {
	seq       Seq
	id        string
	hash      uint64 // of the prompt: text, natural length
	answer    []string
	thinking  int  // output tokens of reasoning, before the answer
	tagged    bool // reasoning ends with a tag in the text, since no parser takes it out
	natural   bool // ends by itself, before max_new_tokens
	prompt    int  // prompt tokens as reported
	stream    bool
	interval  int // tokens an event, as --stream-interval
	internal  bool
	spoil     spoil
	spoilAt   int
	garbage   string
	received  time.Time
	submitted time.Time

	ready   atomic.Int64 // tokens handed out
	queued  atomic.Int64 // ns from submitted to the start of the prefill
	retract atomic.Int64 // times put back
	aborted atomic.Bool  // by POST /abort_request
	wake    chan struct{}
}

// deliver hands out the tokens made so far. It never blocks: a handler that is
// late finds several tokens at once, as a client of the real server does.
func (c *call) deliver() {
	n, last := int64(c.seq.Done), c.seq.Finished()
	c.retract.Store(int64(c.seq.Retractions))
	out := c.ready.Load()
	if !last && (!c.stream || out > 0 && n-out < int64(c.interval)) {
		return
	}
	c.ready.Store(n)
	c.nudge()
}

// nudge wakes the handler.
func (c *call) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
