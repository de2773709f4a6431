package bench

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Lengths draws the input and output lengths of n requests, in tokens, exactly
// as sglang.bench_serving does for its random datasets since v0.5.6.post2:
// np.random.seed(Seed), then n input lengths, then n output lengths, uniform
// integers in [max(int(L·RangeRatio), 1), L]. So totals can be laid side by
// side with that tool to the token.
func (w Workload) Lengths(n int) (in, out []int) {
	src := prng.NewMT19937()
	src.Seed(uint64(w.Seed)) // init_genrand, as numpy seeds its legacy generator from one integer
	return draw(src, n, w.InputLen, w.RangeRatio), draw(src, n, w.OutputLen, w.RangeRatio)
}

// draw is numpy's legacy randint(max(int(limit*ratio), 1), limit+1, n): a 32-bit
// draw is masked to the next power of two and rejected while it is too large. A
// range of one value consumes nothing from the stream.
func draw(src *prng.MT19937, n, limit int, ratio float64) []int {
	low := max(int(float64(limit)*ratio), 1)
	lengths := make([]int, n)
	span := uint32(max(limit-low, 0))
	mask := uint32(1)<<bits.Len32(span) - 1
	for i := range lengths {
		offset := uint32(0)
		if span > 0 {
			for offset = src.Uint32() & mask; offset > span; offset = src.Uint32() & mask {
			}
		}
		lengths[i] = low + int(offset)
	}
	return lengths
}
