package sim

import (
	"strings"
	"time"
)

// submit queues a call for the next step.
func (e *engine) submit(c *call) {
	e.busy.Add(1)
	c.submitted = time.Now()
	e.mu.Lock()
	e.calls = append(e.calls, c)
	e.live[c] = true
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

// abortIDs ends the calls whose id begins with one, as POST /abort_request; ""
// is all. Their clients get what is there and the reason.
func (e *engine) abortIDs(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.live {
		if !c.internal && strings.HasPrefix(c.id, id) {
			c.aborted.Store(true)
			c.nudge()
		}
	}
}

// flush empties the prefix cache, unless requests run or wait.
func (e *engine) flush() bool {
	if e.busy.Load() > 0 {
		return false
	}
	e.owner.Lock()
	defer e.owner.Unlock()
	if cache := e.sched.pool.cache; cache != nil {
		cache.flush()
	}
	return true
}

func (e *engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
