package sim

import (
	"cmp"
	"slices"
)

// Retraction is what had to give way so that a decode step fits.
type Retraction struct {
	Seqs     []*Seq // back in the queue
	Gained   int    // tokens of the KV pool
	From, To float64
}

// retract makes room for one decode step: the requests with the least output,
// and among these the longest prompt, lose their KV and go back to the queue.
func (s *Scheduler) retract() *Retraction {
	if s.nextStep() <= s.pool.room() {
		return nil
	}
	before, was := s.pool.room(), s.ratio.now
	byOutput := slices.Clone(s.running)
	slices.SortStableFunc(byOutput, func(a, b *Seq) int {
		return cmp.Or(cmp.Compare(b.Done, a.Done), cmp.Compare(a.Prompt, b.Prompt))
	})
	var out []*Seq
	first := true
	if len(s.queue) > 0 && s.queue[0].admitted {
		s.putBack(s.queue[0]) // half a prompt holds tokens too; it is still at the head of the queue
		first = false
	}
	for ; len(byOutput) > 1 && (first || s.nextStep() > s.pool.room()); first = false {
		q := byOutput[len(byOutput)-1]
		byOutput = byOutput[:len(byOutput)-1]
		s.putBack(q)
		s.running = without(s.running, q)
		out = append(out, q)
	}
	s.queue = append(s.queue, out...)
	done, most := 0, 1
	for _, q := range s.running {
		done += q.Done + aheadTokens
		most += q.Done + q.left()
	}
	s.ratio.now = min(float64(done)/float64(most), 1)
	return &Retraction{Seqs: out, Gained: s.pool.room() - before, From: was, To: s.ratio.now}
}

// nextStep is how many tokens the next decode step needs in the pool.
func (s *Scheduler) nextStep() (n int) {
	for _, q := range s.running {
		n += s.pool.more(q, q.Prompt+q.Done+s.t.setup.Spec.Drafts)
	}
	return n
}

func (s *Scheduler) putBack(q *Seq) {
	s.drop(q)
	q.prefilled = 0
	if q.Done > 0 {
		q.Retractions++
	}
}
