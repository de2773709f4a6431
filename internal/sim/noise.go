package sim

import (
	"math"
	"math/rand/v2"
)

// NoiseFactor draws the factor by which one start of a server differs from
// another: lognormal around 1 with a spread of percent. A nil seed draws from
// real entropy; a percent of 0 always gives 1.
func NoiseFactor(percent float64, seed *uint64) float64 {
	if percent == 0 {
		return 1
	}
	z := rand.NormFloat64()
	if seed != nil {
		z = rand.New(rand.NewPCG(*seed, 0x73776565702d7369)).NormFloat64()
	}
	return math.Exp(percent / 100 * z)
}
