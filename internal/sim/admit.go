package sim

// The numbers of sglang's admission (SGLANG_INIT_NEW_TOKEN_RATIO and its
// neighbours, unchanged from 0.4 to 0.5.17).
const (
	clipNew     = 4096 // a request's limit counts as no more than this
	initRatio   = 0.7  // of the output that running requests may still make, how much is kept free
	minRatio    = 0.14 // of the initial ratio: where it decays to
	decaySteps  = 600  // decode steps that the decay takes
	aheadTokens = 20   // a retraction makes room for so many steps by the ratio that it sets
)

// newTokenRatio is the scheduler's guess: which share of the output that running
// requests may still make will really come. It decays as long as all goes well
// and jumps up when requests had to be retracted.
type newTokenRatio struct{ initial, now float64 }

func newRatio(s Setup) newTokenRatio {
	r := min(initRatio*s.Conservativeness, 1)
	return newTokenRatio{r, r}
}

func (r *newTokenRatio) reset() { r.now = r.initial }

func (r *newTokenRatio) decay() {
	least := r.initial * minRatio
	r.now = max(r.now-(r.initial-least)/decaySteps, least)
}

// promised is how much of the pool is kept for what runs.
func (s *Scheduler) promised() int {
	var sum float64
	for _, q := range s.running {
		sum += float64(q.left()) * s.ratio.now
	}
	return int(sum)
}

// admit takes a request from the queue into the batch if there is room for it.
func (s *Scheduler) admit(q *Seq, fill, promised int, st *Step) bool {
	budget, chunked := s.t.PrefillBudget()
	if s.admitted >= s.t.MaxRunning() {
		return false
	}
	e, cached := s.pool.match(q, fill)
	s.pool.use(q, e, cached)
	need := s.pool.more(q, fill) + q.left() + promised
	alone := s.admitted == 0
	if (need >= s.pool.room() && !alone) || (!chunked && st.New > 0 && fill-cached > budget-st.Tokens) {
		s.pool.release(q)
		return false
	}
	q.admitted, q.prefilled = true, cached
	if q.Done == 0 {
		q.Cached = cached
	}
	s.admitted++
	st.Admitted = append(st.Admitted, q)
	st.Cached += cached
	return true
}
