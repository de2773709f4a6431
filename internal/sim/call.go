package sim

import (
	"sync/atomic"
	"time"
)

// call is one generate request in flight: the bridge between the engine, which
// makes tokens, and the handler, which writes them.
type call struct {
	seq       Seq
	id        string
	hash      uint64 // of the prompt: prefix cache, text, natural length
	answer    []string
	natural   bool // ends by itself, before max_new_tokens
	stream    bool
	interval  int // tokens an event, as --stream-interval
	internal  bool
	received  time.Time
	submitted time.Time

	ready  atomic.Int64  // tokens handed out
	queued atomic.Int64  // ns from submitted to the start of the prefill
	wake   chan struct{} // a token is ready; holds at most one
}

// deliver hands out the tokens made so far. It never blocks: a handler that is
// late finds several tokens at once, as a client of the real server does.
func (c *call) deliver() {
	n, last := c.seq.Done, c.seq.Finished()
	if !last && (!c.stream || c.interval > 1 && n%c.interval != 1) {
		return
	}
	c.ready.Store(int64(n))
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
