package sim

import "time"

// Seq is one request as the scheduler sees it.
type Seq struct {
	Prompt int // tokens
	Output int // tokens that it will generate, at least 1
	Cached int // prompt tokens found in the prefix cache, below Prompt
	Done   int // output tokens so far

	prefilled int   // prompt tokens done, the cached ones among them
	admitted  bool  // holds a reservation in the KV pool
	gone      bool  // aborted
	call      *call // who waits for the tokens; nil offline
}

// Finished says whether the last token is out.
func (q *Seq) Finished() bool { return q.Done >= q.Output }

// Step is one forward pass of the engine.
type Step struct {
	Prefill  bool
	Seqs     []*Seq        // get their next token when the step ends; valid until the second next Commit
	Admitted []*Seq        // prefill: left the queue for it
	New      int           // prefill: prompts in the batch
	Tokens   int           // prefill: new tokens
	Cached   int           // prefill: tokens taken from the prefix cache
	Graph    bool          // decode: runs as a CUDA graph
	Duration time.Duration // at time scale 1
}

// Scheduler decides what the engine does next. It has no clock and starts
// nothing: the caller takes a step with Next, lets its duration pass (or not),
// and applies it with Commit. As sglang does, prefill goes before decode while
// there is room; as a simplification, a request reserves its whole length in
// the KV pool when it is admitted, so nothing is ever retracted.
type Scheduler struct {
	t        Timing
	queue    []*Seq
	running  []*Seq
	spare    []*Seq // the running slice of the step before, reused
	admitted int    // running, in the batch, or cut in half by chunking
	free     int    // unreserved tokens of the KV pool
	held     int    // tokens in the KV pool
}

// NewScheduler returns an idle scheduler.
func NewScheduler(t Timing) *Scheduler { return &Scheduler{t: t, free: t.KVTokens()} }

// Add puts a request at the end of the queue. Prompt + Output must not exceed
// the KV pool, or the queue stands still for ever.
func (s *Scheduler) Add(q *Seq) {
	q.prefilled = q.Cached
	s.queue = append(s.queue, q)
}

// Running is how many requests decode.
func (s *Scheduler) Running() int { return len(s.running) }

// Queued is how many requests wait for their prefill.
func (s *Scheduler) Queued() int { return len(s.queue) }

// Held is how many tokens of the KV pool are in use.
func (s *Scheduler) Held() int { return s.held }

// Next plans the next step; false when there is nothing to do. Each step must
// be committed before the next is planned.
func (s *Scheduler) Next() (Step, bool) {
	if st := s.prefill(); st.New > 0 {
		return st, true
	}
	n := len(s.running)
	if n == 0 {
		return Step{}, false
	}
	each := (n + s.t.setup.DP - 1) / s.t.setup.DP
	return Step{Seqs: s.running, Graph: each <= s.t.Captured(), Duration: s.t.StepTime(n)}, true
}

// prefill fills one prefill batch from the head of the queue.
func (s *Scheduler) prefill() Step {
	budget, chunked := s.t.PrefillBudget()
	st := Step{Prefill: true}
	for len(s.queue) > 0 && st.Tokens < budget {
		q := s.queue[0]
		if !q.admitted && (s.admitted >= s.t.MaxRunning() || s.free < q.Prompt+q.Output) {
			break
		}
		n := q.Prompt - q.prefilled
		if room := budget - st.Tokens; n > room {
			if !chunked && st.New > 0 {
				break
			}
			if chunked {
				n = room
			}
		}
		if !q.admitted {
			q.admitted = true
			st.Admitted = append(st.Admitted, q)
			s.admitted++
			s.free -= q.Prompt + q.Output
			s.held += q.Cached
			st.Cached += q.Cached
		}
		q.prefilled += n
		st.Tokens += n
		st.New++
		if q.prefilled < q.Prompt {
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

// Commit applies a step at its end: every request of Seqs has one more token,
// finished ones leave and free their share of the pool.
func (s *Scheduler) Commit(st Step) {
	if st.Prefill {
		s.held += st.Tokens
		s.running = s.advance(st.Seqs, s.running)
		return
	}
	left := s.advance(st.Seqs, s.spare[:0])
	s.running, s.spare = left, st.Seqs
}

// advance gives each its token and appends the unfinished to dst.
func (s *Scheduler) advance(seqs, dst []*Seq) []*Seq {
	for _, q := range seqs {
		if q.gone {
			continue
		}
		q.Done++
		s.held++
		if q.Finished() {
			s.release(q)
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
		s.release(q)
	}
	s.queue = without(s.queue, q)
	s.running = without(s.running, q)
}

func (s *Scheduler) release(q *Seq) {
	s.admitted--
	s.free += q.Prompt + q.Output
	s.held -= q.prefilled + q.Done
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
