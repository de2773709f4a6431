package sim

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// engine runs the scheduler in real time. One goroutine makes the steps;
// everything else reaches it through submit, abort and flush.
type engine struct {
	scale  float64 // steps run this many times faster
	timing Timing
	batch  *batchLog
	stats  *metrics
	fail   func(*failure) // a crash of the server; does not return on a real one
	faults faults
	log    *logger

	owner sync.Mutex // guards sched, between steps
	sched *Scheduler

	mu    sync.Mutex
	calls []*call // submitted since the last step
	left  []*call // given up since the last step
	live  map[*call]bool
	wake  chan struct{}

	busy    atomic.Int64 // calls submitted and neither finished nor taken out
	beat    atomic.Int64 // Unix ns of the last output
	stalled atomic.Bool
	started int // client requests with a first token
	since   time.Time
}

// run makes steps until ctx ends. Each step ends at an absolute time, the end of
// the one before plus its duration, so late wake-ups never add up.
func (e *engine) run(ctx context.Context) {
	now, idle := time.Now(), true
	e.since = now
	for ctx.Err() == nil {
		if e.troubled(ctx) {
			return
		}
		e.owner.Lock()
		if arrived := e.drain(); idle && !arrived.IsZero() {
			now = arrived
		}
		st, ok := e.sched.Next()
		if idle = !ok; !idle {
			e.begin(st, now)
		}
		e.owner.Unlock()
		if idle {
			select {
			case <-ctx.Done():
			case <-e.wake:
			}
			continue
		}
		took := time.Duration(float64(st.Duration) * e.slower(now) / e.scale)
		now = now.Add(took)
		if sleepUntil(ctx, now) != nil {
			return
		}
		e.owner.Lock()
		e.sched.Commit(st)
		e.finish(st, took)
		e.owner.Unlock()
	}
}

// drain moves new calls to the scheduler and takes aborted ones out; it returns
// when the first new one came, zero without any.
func (e *engine) drain() (first time.Time) {
	e.mu.Lock()
	calls, left := e.calls, e.left
	e.calls, e.left = nil, nil
	for _, c := range left {
		delete(e.live, c)
	}
	e.mu.Unlock()
	for _, c := range calls {
		if first.IsZero() {
			first = c.submitted
		}
		e.sched.Add(&c.seq)
	}
	for _, c := range left {
		if !c.seq.Finished() && !c.seq.gone {
			e.sched.Abort(&c.seq)
			e.busy.Add(-1)
			e.stats.aborted.Add(1)
		}
	}
	return first
}

// begin records what leaves the queue and what goes back to it, and logs the
// prefill batch, which sglang does before it runs.
func (e *engine) begin(st Step, now time.Time) {
	for _, q := range st.Admitted {
		if q.Retractions == 0 {
			wait := max(now.Sub(q.call.submitted), 0)
			q.call.queued.Store(int64(wait))
			e.stats.queue.observe(wait.Seconds(), 1)
		}
	}
	if st.Prefill {
		e.batch.prefill(st, e.sched)
	}
	if st.Retracted != nil {
		e.stats.retracted.Add(int64(len(st.Retracted.Seqs)))
		e.batch.retracted(st.Retracted)
	}
}

// finish hands out the tokens of a step.
func (e *engine) finish(st Step, took time.Duration) {
	tokens, over := 0, []*call(nil)
	for _, q := range st.Seqs {
		c := q.call
		tokens += q.Fresh
		if st.Prefill && q.Done == 1 {
			e.stats.prompt.Add(int64(q.Prompt))
			e.stats.cached.Add(int64(q.Cached))
			if !c.internal {
				e.started++
			}
		}
		if q.Finished() && !q.gone {
			// Before the token goes out: who has the answer may flush at once.
			e.busy.Add(-1)
			over = append(over, c)
		}
		c.deliver()
	}
	if over != nil {
		e.mu.Lock()
		for _, c := range over {
			delete(e.live, c)
		}
		e.mu.Unlock()
	}
	e.beat.Store(time.Now().UnixNano())
	e.stats.generated.Add(int64(tokens))
	if !st.Prefill {
		e.stats.itl.observe(took.Seconds()*float64(len(st.Seqs))/float64(max(tokens, 1)), tokens)
		e.stats.verified.Add(int64(len(st.Seqs)))
		e.stats.decoded.Add(int64(tokens))
		e.batch.decode(st, e.sched, tokens)
	}
}

// state is what the engine last logged.
func (e *engine) state() gauges { return *e.batch.last.Load() }

// sleepUntil waits for a moment of the monotonic clock.
func sleepUntil(ctx context.Context, at time.Time) error {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
