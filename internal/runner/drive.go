package runner

import (
	"context"
	"errors"
	"fmt"

	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// drive runs the whole night: leftovers first, then the runs in order.
func (n *nightRun) drive(ctx context.Context, resumed bool) error {
	if err := n.recall(resumed); err != nil {
		return err
	}
	start := store.Event{Type: store.NightStart, Total: len(n.plan.Runs), Name: n.plan.Name, Text: n.plan.File}
	if resumed {
		start.Type = store.NightResume
	}
	if err := n.say(start); err != nil {
		return err
	}
	decisions := make([]decision, len(n.plan.Runs))
	for i, p := range n.plan.Runs {
		d, err := n.decide(p)
		if err != nil {
			return err
		}
		decisions[i] = d
	}
	if err := n.clearLeftovers(ctx, decisions); err != nil {
		return n.finish(ctx, err)
	}
	for i, p := range n.plan.Runs {
		if stopping(ctx) {
			n.outcome.NotRun += len(n.plan.Runs) - i
			break
		}
		if err := n.oneRun(ctx, p, decisions[i]); err != nil {
			n.outcome.NotRun += len(n.plan.Runs) - i - 1
			return n.finish(ctx, err)
		}
	}
	return n.finish(ctx, nil)
}

// recall reads what this night's journal already says of its runs.
func (n *nightRun) recall(resumed bool) error {
	n.mapped, n.ended = map[int]store.RunRef{}, map[int]string{}
	if !resumed {
		return nil
	}
	events, _, err := n.night.Events()
	if err != nil {
		return fmt.Errorf("read the journal of %s: %w", n.night.ID(), err)
	}
	for _, e := range events {
		switch e.Type {
		case store.RunStart, store.RunReused:
			n.mapped[e.Ordinal] = store.RunRef{ID: e.Config, Run: e.Run}
			delete(n.ended, e.Ordinal)
		case store.RunEnd:
			n.ended[e.Ordinal] = e.Text
		}
	}
	return nil
}

// oneRun does what was decided for one planned run. The error is one that ends
// the night.
func (n *nightRun) oneRun(ctx context.Context, p sweep.PlannedRun, d decision) error {
	if d.action == reuse {
		e := n.runEvent(store.RunReused, p, d.ref)
		e.Text = d.why
		n.outcome.Reused += len(n.plan.Levels)
		return n.say(e)
	}
	if d.action == leave {
		n.outcome.Failed++
		e := n.runEvent(store.RunSkipped, p, d.ref)
		e.Text = d.why
		return n.say(e)
	}
	e := n.runEvent(store.RunStart, p, d.ref)
	e.Text = d.why
	if err := n.say(e); err != nil {
		return err
	}
	status, err := n.attempts(ctx, p, d)
	end := n.runEvent(store.RunEnd, p, d.ref)
	end.Text = string(status)
	if status == sweep.StatusFailed {
		n.outcome.Failed++
	}
	if status == sweep.StatusInterrupted {
		n.outcome.NotRun++
		return err // no RunEnd: the run goes on when the night does
	}
	return errors.Join(err, n.say(end))
}

// Retries of one run after a failure of each class.
const (
	transientRetries = 2
	servingRetries   = 1
)

// attempts starts the server until the run is done or its class of failure
// says that another start is no use.
func (n *nightRun) attempts(ctx context.Context, p sweep.PlannedRun, d decision) (sweep.Status, error) {
	left := map[sglang.Class]int{sglang.Transient: transientRetries, sglang.Serving: servingRetries}
	for {
		a, err := n.newAttempt(p, &d)
		if err != nil {
			return sweep.StatusFailed, err
		}
		status, failure, err := a.run(ctx)
		if err != nil || status != sweep.StatusFailed {
			return status, err
		}
		class := failure.Cause.Class
		switch {
		case class == sglang.Host:
			return status, fmt.Errorf("%w: %s", ErrHost, failure.Cause.Line)
		case left[class] > 0 && !stopping(ctx):
			left[class]--
			d = a.decision
			d.attempt, d.reattach = a.record.Attempt+1, false
		default:
			return status, nil
		}
	}
}

// finish writes the night's last line. A night that a person or the host
// stopped stays open, so that the same command takes it up again.
func (n *nightRun) finish(ctx context.Context, cause error) error {
	n.outcome.Interrupted = stopping(ctx)
	e := store.Event{Type: store.NightEnd, Text: n.outcome.summary(), Done: n.outcome.Measured, Total: len(n.plan.Runs)}
	if errors.Is(cause, ErrHost) {
		n.outcome.HostTrouble = cause.Error()
	}
	if n.outcome.Interrupted || cause != nil {
		e.Type, e.Text = store.Stopping, n.outcome.summary()
		if cause != nil {
			e.Text = cause.Error()
		}
	}
	return errors.Join(cause, n.say(e))
}

func (o Outcome) summary() string {
	return fmt.Sprintf("%d levels measured, %d reused, %d runs failed, %d not run", o.Measured, o.Reused, o.Failed, o.NotRun)
}

// stopping tells whether a person asked to stop. What fails after that, fails
// because of it.
func stopping(ctx context.Context) bool { return ctx.Err() != nil }
