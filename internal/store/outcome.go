package store

import (
	"maps"
	"slices"

	"sweep/internal/sweep"
)

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
	why := map[int]Failed{}            // by ordinal: what failed last
	for k, e := range events {
		if k == 0 {
			i.Started = e.At
		}
		if e.Name != "" {
			why[e.Ordinal] = Failed{Name: e.Name, Cause: why[e.Ordinal].Cause}
		}
		switch e.Type {
		case AttemptFailed:
			why[e.Ordinal] = Failed{Name: why[e.Ordinal].Name, Cause: e.Cause}
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
			if e.Type == LevelFailed && why[e.Ordinal].Cause == "" {
				why[e.Ordinal] = Failed{Name: why[e.Ordinal].Name, Cause: "could not be measured at " + e.Level}
			}
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
	for _, ordinal := range slices.Sorted(maps.Keys(ended)) {
		outcome := ended[ordinal]
		if f := why[ordinal]; outcome == runFailed && !slices.Contains(i.Failures, f) {
			i.Failures = append(i.Failures, f)
		}
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
