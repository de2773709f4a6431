package sim

import (
	"fmt"
	"testing"
)

// Speculative decoding of GLM-5: the accept length and the gain that were
// published for one and for 32 streams.
func TestSpeculativeDecoding(t *testing.T) {
	m := mustPreset(t, "glm5")
	spec := NewTiming(m, Setup{TP: 8, Spec: Spec{Algorithm: "EAGLE"}})
	plain := NewTiming(m, Setup{TP: 8})
	steps, tokens := 0, 0
	for seed := range uint64(200) {
		steps += spec.verifies(seed, 0, 500)
		tokens += 500
	}
	within(t, "accept length", float64(tokens)/float64(steps), 2.73, 0.03)
	for c, want := range map[int]float64{1: 1.86, 32: 1.46} {
		load := Load{Concurrency: c, Prompts: c * 4, Input: 1, Output: 200}
		rate := func(o Outcome) float64 { return float64(o.OutputTokens) / o.Decoding.Seconds() }
		within(t, fmt.Sprintf("gain at %d", c), rate(Offline(spec, load))/rate(Offline(plain, load)), want, 0.10)
	}
	if n := spec.MaxRunning(); n != 48 {
		t.Errorf("%d running requests with speculative decoding", n)
	}
	// A request gets the same tokens in the same steps, whatever else runs.
	if a, b := spec.Accept(7, 10), spec.Accept(7, 10); a != b || a < 1 || a > 4 {
		t.Errorf("accepted %d, then %d", a, b)
	}
}
