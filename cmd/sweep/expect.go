package main

import (
	"context"
	"time"

	"sweep/internal/runner"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// expected is how long the runs of a night should take by its plan, before any
// of them was timed.
type expected struct {
	from     []time.Duration // of all runs from a place in the plan on, the end of the plan included; nil: not known
	recorded bool            // it rests on earlier runs, not on assumptions
}

// expectedTimes estimates what is left of a plan as `sweep plan` does. It is for
// the status line only: what cannot be read is assumed.
func expectedTimes(ctx context.Context, plan *sweep.Plan, dir *store.Dir, facts sweep.HostFacts) expected {
	var missing [][]string
	var known map[string]sweep.Times
	if len(plan.Runs) <= previewRuns {
		known = sweep.TimesOf(earlierRuns(dir, plan))
		if there, err := runner.Look(ctx, plan, dir, facts); err == nil {
			missing = there.Missing
		}
	}
	return expect(plan.EstimateLeft(sweep.AssumptionsFor(plan), known, missing))
}

func expect(e sweep.Estimate) expected {
	x := expected{from: make([]time.Duration, len(e.Runs)+1), recorded: e.Recordings()}
	for i := len(e.Runs) - 1; i >= 0; i-- {
		x.from[i] = x.from[i+1] + e.Runs[i]
	}
	return x
}

// of is what is expected of one run, after of all that follow it.
func (x expected) of(ordinal int) time.Duration { return x.after(ordinal-1) - x.after(ordinal) }

func (x expected) after(ordinal int) time.Duration {
	if ordinal < 0 || ordinal >= len(x.from) {
		return 0
	}
	return x.from[ordinal]
}

// left says how long the night will go on. Until a run was timed that is what
// the plan expects, marked as such; then the expectations are scaled by how far
// they were off.
func (c *clock) left(now time.Time) string {
	passed := now.Sub(c.started)
	current, after := c.expected.of(c.ordinal), c.expected.after(c.ordinal)
	switch {
	case c.timed > 0 && c.foreseen > 0 && current > 0:
		scale := float64(c.spent) / float64(c.foreseen)
		rest := time.Duration(scale*float64(current+after)) - min(passed, time.Duration(scale*float64(current)))
		return "about " + short(max(rest, time.Second)) + " left"
	case c.timed > 0:
		each := c.spent / time.Duration(c.timed)
		rest := each*time.Duration(c.total-c.done) - passed
		return "about " + short(max(rest, time.Second)) + " left"
	case current == 0:
		return "time left: known after the first run"
	}
	rest := current + after - min(passed, current) // a slow start says nothing of the others
	by := "assumed"
	if c.expected.recorded {
		by = "by earlier runs"
	}
	return "about " + short(max(rest, time.Second)) + " left (" + by + ")"
}
