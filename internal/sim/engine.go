package sim

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// engine runs the scheduler in real time. One goroutine owns the scheduler;
// everything else reaches it through submit and abort.
type engine struct {
	sched *Scheduler
	scale float64 // steps run this many times faster
	cache *prefixCache
	batch *batchLog
	stats *metrics
	fail  func(*failure) // a crash of the server; does not return on a real one
	fault fault

	mu    sync.Mutex
	calls []*call // submitted since the last step
	left  []*call // given up since the last step
	wake  chan struct{}

	busy    atomic.Int64 // calls submitted and neither finished nor taken out
	started int          // client requests with a first token
}

// submit queues a call for the next step.
func (e *engine) submit(c *call) {
	e.busy.Add(1)
	c.submitted = time.Now()
	e.mu.Lock()
	e.calls = append(e.calls, c)
	e.mu.Unlock()
	e.nudge()
}

// abort takes a call out before the next step; harmless for a finished one.
func (e *engine) abort(c *call) {
	e.mu.Lock()
	e.left = append(e.left, c)
	e.mu.Unlock()
	e.nudge()
}

func (e *engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run makes steps until ctx ends. Each step ends at an absolute time, the end of
// the one before plus its duration, so late wake-ups never add up.
func (e *engine) run(ctx context.Context) {
	now, idle := time.Now(), true
	for ctx.Err() == nil {
		if arrived := e.drain(); idle && !arrived.IsZero() {
			now = arrived
		}
		st, ok := e.sched.Next()
		if idle = !ok; idle {
			select {
			case <-ctx.Done():
			case <-e.wake:
			}
			continue
		}
		if st.Prefill {
			e.begin(st, now)
		}
		took := time.Duration(float64(st.Duration) / e.scale)
		now = now.Add(took)
		if sleepUntil(ctx, now) != nil {
			return
		}
		e.sched.Commit(st)
		e.finish(st, took)
	}
}

// drain moves new calls to the scheduler and takes aborted ones out; it returns
// when the first new one came, zero without any.
func (e *engine) drain() (first time.Time) {
	e.mu.Lock()
	calls, left := e.calls, e.left
	e.calls, e.left = nil, nil
	e.mu.Unlock()
	for _, c := range calls {
		if first.IsZero() {
			first = c.submitted
		}
		c.seq.Cached = e.cache.find(c.hash, c.seq.Prompt)
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

// begin records what leaves the queue and logs the prefill batch, which sglang
// does before it runs.
func (e *engine) begin(st Step, now time.Time) {
	for _, q := range st.Admitted {
		wait := max(now.Sub(q.call.submitted), 0)
		q.call.queued.Store(int64(wait))
		e.stats.queue.observe(wait.Seconds(), 1)
	}
	e.batch.prefill(st, e.sched)
}

// finish hands out the tokens of a step.
func (e *engine) finish(st Step, took time.Duration) {
	for _, q := range st.Seqs {
		c := q.call
		if st.Prefill {
			e.cache.add(c.hash, q.Prompt)
			e.stats.prompt.Add(int64(q.Prompt))
			e.stats.cached.Add(int64(q.Cached))
			if !c.internal {
				e.started++
			}
		}
		if q.Finished() {
			// Before the token goes out: who has the answer may flush at once.
			e.busy.Add(-1)
		}
		c.deliver()
	}
	e.stats.generated.Add(int64(len(st.Seqs)))
	if !st.Prefill {
		e.stats.itl.observe(took.Seconds(), len(st.Seqs))
		e.batch.decode(st, e.sched)
	}
	if e.fault == dieUnderLoad && e.started >= dieAfter {
		e.fail(underLoad())
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
