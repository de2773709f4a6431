package bench

import (
	"context"
	"hash/maphash"
	"runtime"
)

// queue builds requests ahead of the slots that send them: building a long
// prompt must not delay a send, and all of a long level at once would not fit
// into memory.
type queue struct {
	ready  chan *exchange
	primed chan struct{} // closed when the first wave is built
}

// newQueue starts to build n requests in order, at most depth ahead. It ends
// when all are taken or when ctx does.
func newQueue(ctx context.Context, n, depth int, build func(i int) *exchange) *queue {
	q := &queue{ready: make(chan *exchange, min(depth, n)), primed: make(chan struct{})}
	go func() {
		defer close(q.ready)
		for i := range n {
			x := build(i)
			select {
			case q.ready <- x:
			case <-ctx.Done():
				if i < cap(q.ready) {
					close(q.primed)
				}
				return
			}
			if i == cap(q.ready)-1 {
				close(q.primed)
			}
			runtime.Gosched() // on one core the connections come first
		}
	}()
	return q
}

// builder makes the requests of a level.
func builder(e endpoint, w Workload, key string, vocab int, in, out []int) func(i int) *exchange {
	seed := maphash.MakeSeed()
	var ids []int // used again: requests are built one after another
	var body []byte
	return func(i int) *exchange {
		ids = w.appendPrompt(ids[:0], key, i, in[i], vocab)
		body = appendGenerate(body[:0], ids, out[i])
		x := newExchange(i, in[i], out[i], e.post("/generate", body))
		var h maphash.Hash
		h.SetSeed(seed)
		for _, id := range ids {
			maphash.WriteComparable(&h, id)
		}
		x.content = h.Sum64()
		return x
	}
}
