package bench

import (
	"context"
	"errors"
	"fmt"
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

// loop decides what a pool of connections sends and when it stops: each slot
// sends its next request when the last one has ended, which is a closed loop,
// or a burst when there are as many slots as requests.
type loop struct {
	queue    *queue
	total    int           // requests to issue
	maxLevel time.Duration // stop issuing after this; 0: never
	grace    time.Duration // see DrainGrace
	stall    time.Duration
	progress func(done int) // called from one goroutine, twice a second

	base    time.Time
	started time.Duration // when the first wave may be sent

	closing atomic.Bool  // no more requests are given out
	gone    atomic.Bool  // nobody listens any more
	given   atomic.Int64 // requests given out
	last    atomic.Int64 // the last token, on the loop's clock
	redials atomic.Int64

	mu      sync.Mutex
	traces  []trace // of requests that have ended
	longest time.Duration
}

// clock is the monotonic time since the loop was made.
func (l *loop) clock() time.Duration { return time.Since(l.base) }

// begin marks the moment at which the first wave may be sent.
func (l *loop) begin() {
	l.started = l.clock()
	l.last.Store(int64(l.started))
}

// next returns the next request for a slot that has been free since then, or
// nil when there is nothing more to send.
func (l *loop) next(slot int, free time.Duration) *exchange {
	if l.closing.Load() || l.gone.Load() {
		return nil
	}
	x, ok := <-l.queue.ready
	if !ok {
		return nil
	}
	l.given.Add(1)
	x.slot, x.scheduled = slot, free
	return x
}

// token notes that some stream moved.
func (l *loop) token(at time.Duration) { l.last.Store(int64(at)) }

// done keeps what an ended request experienced.
func (l *loop) done(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.traces = append(l.traces, x.trace)
	if x.ok() {
		l.longest = max(l.longest, x.end-x.sent)
	}
}

func (l *loop) counts() (done int, longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.traces), l.longest
}

// run drives the pool until everything is answered or a reason to stop comes,
// and tells how it ended. The pool's connections must have been opened under
// ctx, and stop must be what ends it.
func (l *loop) run(ctx context.Context, stop context.CancelCauseFunc, p *pool) Ended {
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(ctx, stop, ended)
	}()
	p.serve(ctx, l)
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

// watch keeps the clock of max-level, its grace and the stall budget. Max-level
// is about issuing: once every request is under way, as in a burst or at the end
// of a closed loop, it cuts nothing, and the stall budget alone bounds the rest.
func (l *loop) watch(ctx context.Context, stop context.CancelCauseFunc, ended <-chan struct{}) {
	tick := time.NewTicker(max(min(500*time.Millisecond, l.stall/4), time.Millisecond))
	defer tick.Stop()
	limit := time.NewTimer(l.maxLevel)
	defer limit.Stop()
	if l.maxLevel <= 0 {
		limit.Stop()
	}
	var grace, said time.Duration
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-limit.C:
			if l.given.Load() == int64(l.total) {
				continue
			}
			if l.closing.Swap(true) {
				if silent := l.clock() - time.Duration(l.last.Load()); silent >= grace {
					stop(stopped{Stalled, fmt.Sprintf("stalled: no token on any stream for %s", silent.Round(time.Second))})
					return
				}
				stop(stopped{AtMaxLevel, fmt.Sprintf("cut short: still running %s after max-level", grace.Round(time.Millisecond))})
				return
			}
			_, longest := l.counts()
			grace = max(l.grace, longest*3/2)
			limit.Reset(grace)
		case <-tick.C:
			now := l.clock()
			if now-time.Duration(l.last.Load()) > l.stall {
				stop(stopped{Stalled, fmt.Sprintf("stalled: no token on any stream for %s", l.stall)})
				return
			}
			if now-said >= 500*time.Millisecond {
				said = now
				done, _ := l.counts()
				l.progress(done)
			}
		}
	}
}
