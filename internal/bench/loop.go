package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DrainGrace is how long requests in flight may go on after max-level has
// stopped the issuing, at least: one and a half times the longest request so
// far, when that is more.
const DrainGrace = 30 * time.Second

// stopped is why a loop was told to end early.
type stopped struct {
	ended Ended
	text  string
}

func (s stopped) Error() string { return s.text }

// reason is why ctx, the context of a loop, has ended.
func reason(ctx context.Context) stopped {
	var s stopped
	if errors.As(context.Cause(ctx), &s) {
		return s
	}
	return stopped{Interrupted, "interrupted"}
}

// loop decides what connections send and when it stops: each slot sends its next
// request when the last one has ended, which is a closed loop, or a burst when
// there are as many slots as requests. With times for the requests it is an open
// loop: a free slot takes the next request and sends it when its time has come.
type loop struct {
	queue    *queue
	total    int             // requests to issue
	times    []time.Duration // of each request, from the start; nil: as soon as a slot is free
	maxLevel time.Duration   // stop issuing after this; 0: never
	grace    time.Duration   // see DrainGrace
	stall    time.Duration
	progress func(done int) // called from one goroutine, twice a second

	base    time.Time
	started time.Duration // when the first wave may be sent

	closing atomic.Bool  // max-level: no more requests are given out
	gone    atomic.Bool  // nobody listens any more
	given   atomic.Int64 // requests given out to be sent at once
	over    atomic.Int64 // of these, ended
	last    atomic.Int64 // the last token, on the loop's clock
	redials atomic.Int64

	mu      sync.Mutex
	traces  []trace // of requests that have ended
	longest time.Duration

	fault  error         // this system failed us: there is nothing to measure
	halted chan struct{} // closed when no more requests are given out
	halt   func()        // closes it
}

// newLoop makes a loop over n requests that sends nothing yet.
func newLoop(q *queue, n int) *loop {
	l := &loop{queue: q, total: n, base: time.Now(), progress: func(int) {}, halted: make(chan struct{})}
	l.halt = sync.OnceFunc(func() { close(l.halted) })
	return l
}

// clock is the monotonic time since the loop was made.
func (l *loop) clock() time.Duration { return time.Since(l.base) }

// begin marks the moment at which the first wave may be sent.
func (l *loop) begin() {
	l.started = l.clock()
	l.last.Store(int64(l.started))
}

// take returns the next request for a slot that has been free since then,
// without waiting. It is nil when there is nothing more to send (over), or when
// none is built yet.
func (l *loop) take(slot int, free time.Duration) (x *exchange, over bool) {
	if l.closing.Load() || l.gone.Load() {
		return nil, true
	}
	select {
	case x, ok := <-l.queue.ready:
		if !ok {
			return nil, true
		}
		return l.plan(x, slot, free), false
	default:
		return nil, false
	}
}

// next is take that waits until a request is built and its time has come. It is
// nil when there is nothing more to send.
func (l *loop) next(ctx context.Context, slot int, free time.Duration) *exchange {
	if l.closing.Load() || l.gone.Load() {
		return nil
	}
	x, ok := <-l.queue.ready
	if !ok {
		return nil
	}
	l.plan(x, slot, free)
	if ahead := x.scheduled - l.clock(); x.paced && ahead > 0 {
		wait := time.NewTimer(ahead)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-l.halted:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil || !l.issue(x) {
		return nil
	}
	return x
}

// plan says who sends a request, and when.
func (l *loop) plan(x *exchange, slot int, free time.Duration) *exchange {
	x.slot, x.scheduled = slot, free
	if l.times != nil {
		x.paced, x.scheduled = true, l.started+l.times[x.index]
	}
	return x
}

// issue is called when a request is about to be sent. It is false when
// max-level or the server's end came before the request's time.
func (l *loop) issue(x *exchange) bool {
	if x.paced && (l.closing.Load() || l.gone.Load()) {
		return false
	}
	if l.given.Add(1)-l.over.Load() == 1 { // nothing was in flight: silence begins now
		l.last.Store(int64(l.clock()))
	}
	return true
}

// dead is called when nobody listens any more.
func (l *loop) dead() {
	l.gone.Store(true)
	l.halt()
}

// token notes that some stream moved.
func (l *loop) token(at time.Duration) { l.last.Store(int64(at)) }

// done keeps what an ended request experienced.
func (l *loop) done(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.traces = append(l.traces, x.trace)
	l.over.Add(1)
	if x.ok() {
		l.longest = max(l.longest, x.end-x.sent)
	}
}

func (l *loop) counts() (done int, longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.traces), l.longest
}

// run drives the connections until everything is answered or a reason to stop
// comes, and tells how it ended. They must have been opened under ctx, and stop
// must be what ends it.
func (l *loop) run(ctx context.Context, stop context.CancelCauseFunc, t transport) Ended {
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(ctx, stop, ended)
	}()
	t.serve(ctx, l)
	close(ended)
	<-watched

	why := reason(ctx)
	told := ctx.Err() != nil && (len(l.traces) < l.total ||
		slices.ContainsFunc(l.traces, func(t trace) bool { return t.problem == why.text }))
	switch {
	case told:
		return why.ended
	case l.gone.Load():
		return ServerGone
	case l.closing.Load() && len(l.traces) < l.total:
		return AtMaxLevel
	}
	return Complete
}
