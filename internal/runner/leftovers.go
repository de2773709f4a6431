package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sweep/internal/bench"
	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/supervise"
	"sweep/internal/sweep"
)

// clearLeftovers ends what dead sweeps left on this host. We hold the host's
// lock, so whatever carries our label belongs to nobody who lives. One
// instance may stay: that of the first run to be measured, when its server is
// still up and the run can go on with it; its run is returned.
func (n *nightRun) clearLeftovers(ctx context.Context, decisions []decision) (kept string, err error) {
	if err := n.refuseKept(ctx); err != nil {
		return "", err
	}
	instances, err := n.Runtime.List(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: list what earlier sweeps left: %w", ErrHost, err)
	}
	if err := n.clearElsewhere(ctx); err != nil {
		return "", err
	}
	first := firstToMeasure(decisions)
	for _, in := range instances {
		if n.facts.owns(in.Name) {
			continue
		}
		if Kept(in) {
			if err := n.passKept(in); err != nil {
				return "", err
			}
			continue
		}
		e := store.Event{Type: store.Leftover, Name: in.Name, Run: in.Labels["run"]}
		if first != nil && first.reattach && first.ref.Run == in.Labels["run"] && n.serves(ctx, in, first.attempt) {
			kept = first.ref.Run
			e.Text = "kept: its server is still up and the run goes on with it"
		} else {
			if e.Text, err = n.end(ctx, in); err != nil {
				return "", fmt.Errorf("%w: end %s, left by an earlier sweep: %w", ErrHost, in.Name, err)
			}
			n.cleared = true
		}
		if err := n.say(e); err != nil {
			return "", err
		}
	}
	return kept, nil
}

// clearElsewhere ends what dead sweeps left in the other runtimes of this host:
// it may hold the GPUs.
func (n *nightRun) clearElsewhere(ctx context.Context) error {
	for _, rt := range n.Others {
		instances, err := rt.List(ctx)
		if err != nil {
			continue // as for what is kept
		}
		there := *n
		there.Runtime = rt
		for _, in := range instances {
			if Kept(in) {
				if err := n.passKept(in); err != nil {
					return err
				}
				continue
			}
			e := store.Event{Type: store.Leftover, Name: in.Name, Run: in.Labels["run"]}
			if e.Text, err = there.end(ctx, in); err != nil {
				return fmt.Errorf("%w: end %s, left by an earlier sweep in another runtime: %w", ErrHost, in.Name, err)
			}
			n.cleared = true
			if err := n.say(e); err != nil {
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

// serves tells whether the held server of an attempt still runs in there, and
// nobody has asked it to stop.
func (n *nightRun) serves(ctx context.Context, in launch.Instance, attempt int) bool {
	_, state, err := launch.Lookup(ctx, n.Runtime, in, ServerID(attempt))
	return err == nil && state.Alive > 0 && state.Exit == nil && !state.Stopping
}

// end brings home what an instance of a dead sweep still holds, and removes
// it: the server's log and why it ended, and benches that came to their end.
func (n *nightRun) end(ctx context.Context, in launch.Instance) (string, error) {
	ctx = context.WithoutCancel(ctx)
	a, err := n.deadAttempt(in)
	if err != nil {
		return "", err
	}
	if a == nil {
		return "ended: left by a sweep that died", n.Runtime.Destroy(ctx, in)
	}
	_, state, err := launch.Lookup(ctx, n.Runtime, in, ServerID(a.record.Attempt))
	if err != nil {
		return "", err
	}
	if state.Phase != supervise.Absent {
		if a.server, err = launch.StartServer(ctx, n.Runtime, in, a.serverSpec()); err != nil { // starts nothing: it was held before
			return "", err
		}
	}
	saved, err := a.bringMeasurements(ctx)
	if err != nil {
		return "", err
	}
	died := state.Exit != nil && !state.Stopping
	if died {
		cause, excerpt, err := a.server.Diagnose(ctx, state.Exit)
		if err != nil {
			return "", err
		}
		a.record.Failure = &sweep.Failure{Cause: cause, Exit: state.Exit.String(), Excerpt: excerpt, Log: a.logPath()}
	}
	torn := a.teardown(ctx)
	now := time.Now()
	a.record.Ended, a.record.Status = &now, sweep.StatusInterrupted
	switch {
	case died:
		a.record.Status = sweep.StatusFailed
	case n.whole(a.decision.ref):
		a.record.Status = sweep.StatusDone
	}
	text := "ended: left by a sweep that died"
	if saved > 0 {
		text += fmt.Sprintf("; %d finished levels were brought home", saved)
	}
	if died {
		text += "; its server had failed (" + a.record.Failure.Cause.Code + ")"
	}
	return text, errors.Join(a.save(), torn)
}

// deadAttempt is the attempt whose runner died over an instance; nil when
// there is none on record.
func (n *nightRun) deadAttempt(in launch.Instance) (*attempt, error) {
	ref := store.RunRef{ID: in.Labels["id"], Run: in.Labels["run"]}
	run, _, err := n.Store.LoadRun(ref)
	if err != nil || len(run.Records) == 0 {
		return nil, nil //nolint:nilerr // another data directory, or nothing was written yet: there is nothing to bring home to
	}
	last := run.Records[len(run.Records)-1]
	if last.Status != sweep.StatusRunning {
		return nil, nil
	}
	return &attempt{nightRun: n, config: last.Configuration, record: last, instance: in,
		decision: decision{ref: ref, attempt: last.Attempt, reattach: true}}, nil
}

// whole tells whether a run has every planned level.
func (n *nightRun) whole(ref store.RunRef) bool {
	run, _, err := n.Store.LoadRun(ref)
	have := map[string]bool{}
	for _, m := range run.Measurements {
		have[m.Key] = m.Usable()
	}
	return err == nil && !slices.ContainsFunc(n.plan.Levels, func(l bench.Level) bool { return !have[l.Key()] })
}

// bringMeasurements collects the benches of the planned levels that ended
// while nobody was there, and counts them.
func (a *attempt) bringMeasurements(ctx context.Context) (int, error) {
	saved := 0
	for _, level := range a.plan.Levels { // of whichever run it was
		held, _, out, running, err := a.findBench(ctx, level)
		if err != nil {
			return saved, err
		}
		if held == nil || running {
			continue
		}
		_, err = a.collect(ctx, level, held, out)
		if have := (*store.MeasuredError)(nil); errors.As(err, &have) {
			continue
		}
		if err != nil {
			return saved, err
		}
		saved++
	}
	return saved, nil
}

// settle closes the record of a dead runner's attempt that left nothing
// behind, so that it does not read as running for ever. What its teardown
// proved, nobody knows.
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
		if err := n.Store.WriteRecord(r); err != nil {
			return fmt.Errorf("close the record of run %s: %w", r.Run, err)
		}
	}
	d.attempt++
	return nil
}
