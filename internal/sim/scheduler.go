package sim

import "time"

// Step is one forward pass of the engine.
type Step struct {
	Prefill   bool
	Seqs      []*Seq        // get their next tokens when the step ends; valid until the second next Commit
	Admitted  []*Seq        // prefill: left the queue for it
	New       int           // prefill: prompts in the batch
	Tokens    int           // prefill: new tokens
	Cached    int           // prefill: tokens taken from the prefix cache
	Graph     bool          // decode: runs as a CUDA graph
	Retracted *Retraction   // decode: what had to give way; nil: nothing
	Duration  time.Duration // at time scale 1
}

// Scheduler decides what the engine does next. It has no clock and starts
// nothing: the caller takes a step with Next, lets its duration pass (or not),
// and applies it with Commit. As sglang does, prefill goes before decode while
// there is room, requests are admitted on the guess that they end before their
// limit, and give way again (retraction) when that guess was wrong.
type Scheduler struct {
	t        Timing
	queue    []*Seq
	running  []*Seq
	spare    []*Seq // the running slice of the step before, reused
	admitted int    // running, in the batch, or cut in half by chunking
	pool     *pool
	ratio    newTokenRatio
}

// NewScheduler returns an idle scheduler.
func NewScheduler(t Timing) *Scheduler {
	return &Scheduler{t: t, pool: newPool(t), ratio: newRatio(t.setup)}
}

// Add puts a request at the end of the queue. Prompt + Output must be below the
// KV pool, or the queue stands still for ever.
func (s *Scheduler) Add(q *Seq) { s.queue = append(s.queue, q) }

// Running is how many requests decode.
func (s *Scheduler) Running() int { return len(s.running) }

// Queued is how many requests wait for their prefill.
func (s *Scheduler) Queued() int { return len(s.queue) }

// Held is how many tokens of the KV pool are in use.
func (s *Scheduler) Held() int { return s.pool.held() }

// Next plans the next step; false when there is nothing to do. Each step must
// be committed before the next is planned.
func (s *Scheduler) Next() (Step, bool) {
	if st := s.prefill(); st.New > 0 {
		return st, true
	}
	if len(s.running) == 0 {
		s.ratio.reset()
		return Step{}, false
	}
	gave := s.retract()
	if gave == nil {
		s.ratio.decay()
	}
	for _, q := range s.running {
		s.pool.take(q, q.Prompt+q.Done) // its newest token's KV comes with this step
	}
	n := len(s.running)
	each := (n + s.t.setup.DP - 1) / s.t.setup.DP
	return Step{Seqs: s.running, Graph: each <= s.t.Captured(), Retracted: gave, Duration: s.t.StepTime(n)}, true
}

// prefill fills one prefill batch from the head of the queue.
func (s *Scheduler) prefill() Step {
	budget, chunked := s.t.PrefillBudget()
	st := Step{Prefill: true}
	if len(s.queue) == 0 {
		return st
	}
	promised := s.promised()
	for len(s.queue) > 0 && st.Tokens < budget {
		q := s.queue[0]
		fill := q.Prompt + q.Done // a retracted request brings its own output
		if !q.admitted && !s.admit(q, fill, promised, &st) {
			break
		}
		n := fill - q.prefilled
		if room := budget - st.Tokens; n > room && chunked {
			n = room
		}
		if q.prefilled+n == fill {
			promised += q.left()
		}
		q.prefilled += n
		s.pool.take(q, q.prefilled)
		st.Tokens += n
		st.New++
		if q.prefilled < fill {
			break // the budget is used up; the rest comes with the next batch
		}
		st.Seqs = append(st.Seqs, q)
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	if st.New > 0 {
		st.Duration = s.t.PrefillTime(st.Tokens)
	}
	return st
}

// Commit applies a step at its end: every request of Seqs has its next tokens,
// finished ones leave and free their share of the pool.
func (s *Scheduler) Commit(st Step) {
	if st.Prefill {
		for _, q := range st.Seqs {
			if !q.gone {
				s.pool.share(q, q.Prompt+q.Done)
			}
		}
		s.running = s.advance(st.Seqs, s.running, true)
		return
	}
	left := s.advance(st.Seqs, s.spare[:0], false)
	s.running, s.spare = left, st.Seqs
}

// advance gives each its tokens and appends the unfinished to dst. A prefill
// yields one, a decode step as many as are accepted.
func (s *Scheduler) advance(seqs, dst []*Seq, prefill bool) []*Seq {
	for _, q := range seqs {
		q.Fresh = 0
		if q.gone {
			continue
		}
		q.Fresh = 1
		if !prefill {
			q.Fresh = min(s.t.Accept(q.seed, q.Done), q.Output-q.Done)
		}
		q.Done += q.Fresh
		if q.Finished() {
			s.pool.take(q, q.Prompt+q.Done-1)
			s.pool.share(q, q.Prompt+q.Done-1) // the last token's KV is never computed
			s.drop(q)
			continue
		}
		dst = append(dst, q)
	}
	return dst
}

// Abort takes a request out, wherever it is. It may be called twice and for a
// finished one, but not between Next and Commit.
func (s *Scheduler) Abort(q *Seq) {
	if q.gone || q.Finished() {
		return
	}
	q.gone = true
	if q.admitted {
		s.drop(q)
	}
	s.queue = without(s.queue, q)
	s.running = without(s.running, q)
}

// drop takes a request's place and its share of the pool.
func (s *Scheduler) drop(q *Seq) {
	s.admitted--
	q.admitted = false
	s.pool.release(q)
}

// without copies, since a Step may still hold the old slice.
func without(list []*Seq, q *Seq) []*Seq {
	for i, each := range list {
		if each == q {
			return append(append(make([]*Seq, 0, len(list)), list[:i]...), list[i+1:]...)
		}
	}
	return list
}
