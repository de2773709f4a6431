package sim

import (
	"math"
	"time"
)

// Knot is one point of a curve: how long one decode step takes at a batch size.
type Knot struct {
	Batch int // running requests in the step
	Step  time.Duration
}

// Curve is step time over batch size: knots in rising order of Batch, at least
// one. Between them it runs straight in log-log space, which is how step times
// of real servers bend; beyond the last knot it keeps the last segment's slope,
// below the first it stays flat.
type Curve []Knot

// At is the step time at a batch size. A batch below 1 counts as 1.
func (c Curve) At(batch int) time.Duration {
	first := c[0]
	if batch <= first.Batch || len(c) == 1 {
		return first.Step
	}
	i := 1
	for i < len(c)-1 && batch > c[i].Batch {
		i++
	}
	a, b := c[i-1], c[i]
	slope := math.Log(float64(b.Step)/float64(a.Step)) / math.Log(float64(b.Batch)/float64(a.Batch))
	return time.Duration(float64(b.Step) * math.Pow(float64(batch)/float64(b.Batch), slope))
}
