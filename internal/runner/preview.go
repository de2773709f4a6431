package runner

import (
	"context"
	"fmt"

	"sweep/internal/store"
	"sweep/internal/sweep"
)

// Preview is what a night would do, by what is there already.
type Preview struct {
	Reused int // runs of which every level is there
	Begun  int // runs of which some levels are there
	Levels int // levels to measure

	Missing [][]string // keys of the levels to measure, by place in the plan's runs
}

// Look says what a night of this plan would do on this host now, as far as
// that can be told without asking for package versions. It changes nothing.
func Look(ctx context.Context, plan *sweep.Plan, dir *store.Dir, facts sweep.HostFacts) (Preview, error) {
	n := &nightRun{Options: Options{Store: dir, Facts: facts}, plan: plan}
	p := Preview{Missing: make([][]string, len(plan.Runs))}
	for i, run := range plan.Runs {
		d, err := n.decide(ctx, run)
		if err != nil {
			return p, fmt.Errorf("look at what is there: %w", err)
		}
		p.Missing[i] = d.missing
		p.Levels += len(d.missing)
		switch {
		case d.action == reuse:
			p.Reused++
		case len(d.have) > 0:
			p.Begun++
		}
	}
	return p, nil
}
