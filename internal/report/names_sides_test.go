package report

import (
	"testing"

	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// TestSidesExplainWhatIsCalledAlike: two nights may have two servers under one
// given name, which must not read as the noise of one.
func TestSidesExplainWhatIsCalledAlike(t *testing.T) {
	config := func(id, size string) sweep.Configuration {
		return sweep.Configuration{ID: id, Name: "small-prefill", Labels: []matrix.Label{{Axis: "cuda-graph", Value: "on"}},
			Flags: []matrix.Setting{{Target: matrix.Flag, Name: "chunked-prefill-size", Value: matrix.Value{Kind: matrix.Words, Words: []string{size}}}}}
	}
	b := &builder{in: Input{Sides: []string{"A", "B"}, Subjects: []Subject{
		{Config: config("c1", "512"), Side: "A", Against: -1}, {Config: config("c2", "256"), Side: "B", Against: 0}}}}
	b.name()
	if len(b.recipes) != 1 || b.recipes[0].Name != b.names[1] || b.recipes[0].Means != b.names[0]+" + chunked-prefill-size=256" {
		t.Errorf("%q: %+v", b.names, b.recipes)
	}
}
