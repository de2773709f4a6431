package store

import "sweep/internal/sweep"

// How a run came out, the worse ones later.
const (
	runDone = iota
	runInvalid
	runFailed
)

// follow reads off the journal how far the night came.
func (i *NightInfo) follow(events []Event) {
	ended := map[int]int{}             // by ordinal: how it came out
	levels := map[int]map[string]int{} // by ordinal and key, of runs under way
	for k, e := range events {
		if k == 0 {
			i.Started = e.At
		}
		switch e.Type {
		case NightStart, NightResume:
			i.Finished = false
		case NightEnd:
			i.Finished, i.Code, i.Summary = true, e.Code, e.Text
		case RunStart:
			delete(ended, e.Ordinal)
			if levels[e.Ordinal] == nil {
				levels[e.Ordinal] = map[string]int{}
			}
		case LevelFailed, LevelEnd:
			if levels[e.Ordinal] != nil {
				levels[e.Ordinal][e.Key] = levelOutcome(e)
			}
		case RunReused:
			ended[e.Ordinal] = runDone
		case RunEnd:
			ended[e.Ordinal] = runFailed
			if e.Text == string(sweep.StatusDone) {
				ended[e.Ordinal] = worst(levels[e.Ordinal])
			}
		}
	}
	for _, outcome := range ended {
		switch outcome {
		case runDone:
			i.Done++
		case runInvalid:
			i.Invalid++
		default:
			i.Failed++
		}
	}
}

// levelOutcome is how a level came out, by the last event about it.
func levelOutcome(e Event) int {
	switch {
	case e.Type == LevelFailed:
		return runFailed
	case e.Figures != nil && e.Figures.Verdict == "invalid":
		return runInvalid
	default:
		return runDone
	}
}

func worst(levels map[string]int) int {
	outcome := runDone
	for _, o := range levels {
		outcome = max(outcome, o)
	}
	return outcome
}
