package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// clearLeftovers ends what dead sweeps left on this host. We hold the host's
// lock, so whatever carries our label belongs to nobody who lives. One
// instance may stay: that of the first run to be measured, when its server is
// still up and the run can go on with it.
func (n *nightRun) clearLeftovers(ctx context.Context, decisions []decision) error {
	instances, err := n.Runtime.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: list what earlier sweeps left: %w", ErrHost, err)
	}
	first, kept := firstToMeasure(decisions), (*decision)(nil)
	for _, in := range instances {
		e := store.Event{Type: store.Leftover, Name: in.Name, Run: in.Labels["run"]}
		if first != nil && first.reattach && first.ref.Run == in.Labels["run"] && n.serves(ctx, in, first.attempt) {
			kept = first
			kept.why += "; its server is still up"
			e.Text = "kept: its server is still up and the run goes on with it"
		} else {
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
			err := n.Runtime.Destroy(stop, in)
			cancel()
			if err != nil {
				return fmt.Errorf("%w: end %s, left by an earlier sweep: %w", ErrHost, in.Name, err)
			}
			e.Text = "ended: left by a sweep that died"
		}
		if err := n.say(e); err != nil {
			return err
		}
	}
	for i := range decisions {
		if d := &decisions[i]; d.reattach && d != kept {
			if err := n.settle(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstToMeasure is the decision for the first run that needs a server.
func firstToMeasure(decisions []decision) *decision {
	for i := range decisions {
		if a := decisions[i].action; a == fresh || a == resume {
			return &decisions[i]
		}
	}
	return nil
}

// serves tells whether the held server of an attempt still runs in there.
func (n *nightRun) serves(ctx context.Context, in launch.Instance, attempt int) bool {
	_, state, err := launch.Lookup(ctx, n.Runtime, in, fmt.Sprintf("server-%d", attempt))
	return err == nil && state.Alive > 0 && state.Exit == nil
}

// settle closes the record of a dead runner's attempt that will not be taken
// up again, so that it does not read as running for ever.
func (n *nightRun) settle(d *decision) error {
	run, _, err := n.Store.LoadRun(d.ref)
	if err != nil {
		return fmt.Errorf("read run %s: %w", d.ref.Run, err)
	}
	d.reattach = false
	for _, r := range run.Records {
		if r.Attempt != d.attempt || r.Status != sweep.StatusRunning {
			continue
		}
		now := time.Now()
		r.Ended, r.Status = &now, sweep.StatusInterrupted
		if len(d.missing) == 0 {
			r.Status = sweep.StatusDone
		}
		r.Teardown = &sweep.Teardown{Clean: true, GPU: "not looked at: its runner died; ended by a later sweep"}
		if err := n.Store.WriteRecord(r); err != nil {
			return errors.Join(fmt.Errorf("close the record of run %s", r.Run), err)
		}
	}
	d.attempt++
	return nil
}
