package sim

import (
	"errors"
	"math"
)

// Spec is speculative decoding: a draft model guesses, the model checks several
// guesses in one step.
type Spec struct {
	Algorithm string // "" is off
	Steps     int    // drafts in a row
	TopK      int
	Drafts    int // tokens checked in a step, the one that is certain among them
}

// acceptShare is the share of drafts that turn out right. With three drafts it
// gives the accept length of 2.73 that public logs of GLM-5 with its MTP layer
// show.
const acceptShare = 0.75

// on says whether drafts are made.
func (s Spec) on() bool { return s.Algorithm != "" }

// draftModel says whether a model of its own is loaded for the drafts.
func (s Spec) draftModel() bool { return s.on() && s.Algorithm != "NGRAM" }

// resolved fills in what sglang chooses when none of the three numbers is
// given, 3 steps, top 1, 4 tokens; top 1 forces tokens to steps + 1.
func (s Spec) resolved() Spec {
	switch {
	case !s.on():
		return Spec{}
	case s.Algorithm == "NGRAM":
		if s.Drafts == 0 {
			s.Drafts = 12
		}
		s.Steps, s.TopK = s.Drafts-1, 1
	case s.Steps == 0:
		s.Steps, s.TopK, s.Drafts = 3, 1, 4
	}
	if s.TopK <= 1 {
		s.TopK, s.Drafts = 1, s.Steps+1
	}
	return s
}

// check is what sglang asserts about the numbers.
func (s Spec) check(pp int) error {
	given := 0
	for _, n := range []int{s.Steps, s.TopK, s.Drafts} {
		if n > 0 {
			given++
		}
	}
	switch {
	case !s.on():
		return nil
	case pp > 1:
		return errors.New("AssertionError: Pipeline parallelism is not compatible with overlap schedule, speculative decoding")
	case s.draftModel() && given != 0 && given != 3:
		return errors.New("AssertionError: speculative_num_steps, speculative_eagle_topk and speculative_num_draft_tokens must be given together")
	}
	return nil
}

// Accept is how many tokens a request gets from the decode step that begins
// when it has so many: one, and with speculative decoding the drafts that turn
// out right. It is a function of the request, so it does not depend on when or
// with whom it runs.
func (t Timing) Accept(seed uint64, done int) int {
	n := 1
	for n <= t.setup.Spec.Steps && t.setup.Spec.on() && unit(seed, done*64+n) < acceptShare {
		n++
	}
	return n
}

// verifies is how many decode steps a request needs to get from one count of
// tokens to the next.
func (t Timing) verifies(seed uint64, from, to int) (steps int) {
	for ; from < to; steps++ {
		from += t.Accept(seed, from)
	}
	return steps
}

// specCost is by how much drafting and checking make a step longer. Fitted by
// hand to the published speed of GLM-5 with and without its MTP layer: 1.86
// times as fast at one stream and 1.46 times at 32, at 2.73 tokens a step.
func (t Timing) specCost(batch int) float64 {
	if !t.setup.Spec.on() {
		return 1
	}
	return (1 + 0.47*float64(t.setup.Spec.Drafts)/4) * math.Pow(float64(max(batch, 1)), 0.07)
}

// unit is a number from 0 up to 1 that a seed and a position always give.
func unit(seed uint64, k int) float64 { return float64(mix(seed, k)>>11) / (1 << 53) }

// mix is splitmix64.
func mix(seed uint64, k int) uint64 {
	x := seed + uint64(k)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
