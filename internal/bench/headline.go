package bench

// Headline is the output tok/s of the level that is shown and ranked: that of
// the whole window, or of the steady state where issuing ended at max-level,
// since ramp-up and drain weigh more the sooner a level is cut short. Null where
// it was not measured: a level that ended so early has no steady state.
func (m Measurement) Headline() *float64 {
	if m.Ended != AtMaxLevel {
		return m.OutputThroughput
	}
	if m.Steady == nil {
		return nil
	}
	return m.Steady.OutputThroughput
}
