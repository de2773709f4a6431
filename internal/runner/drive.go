package runner

import (
	"context"
	"errors"
	"fmt"

	"sweep/internal/bench"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// drive runs the whole night: leftovers first, then the runs in order.
func (n *nightRun) drive(ctx context.Context, resumed bool) (err error) {
	if err := n.recall(resumed); err != nil {
		return err
	}
	start := store.Event{Type: store.NightStart, Night: n.night.ID(), Runs: len(n.plan.Runs), Name: n.plan.Name, Text: n.plan.File}
	if resumed {
		start.Type = store.NightResume
	}
	if err := n.say(start); err != nil {
		return err
	}
	for _, p := range n.journal.Problems() { // a line cut in half was set aside
		if err := n.say(store.Event{Type: store.Warning, Text: p.String()}); err != nil {
			return err
		}
	}
	if n.other != "" {
		if err := n.say(store.Event{Type: store.Warning, Text: fmt.Sprintf(
			"night %s of %s was cut off and had another plan: the file was changed, or other options were given. This is a new night; the plan of that one stands as it was",
			n.other, n.plan.Name)}); err != nil {
			return err
		}
	}
	if err := bench.CheckFiles(n.plan.Levels); err != nil {
		return n.finish(ctx, fmt.Errorf("%w: %w", ErrHost, err))
	}
	n.facts = newFactsAsker(n.Runtime, n.night.ID())
	defer func() { err = errors.Join(err, n.facts.close(ctx)) }()
	if err := n.hook(ctx, "before-night", n.plan.Hooks.BeforeNight, store.Event{}); err != nil {
		return n.finish(ctx, fmt.Errorf("%w: %w", ErrHost, err))
	}
	if n.plan.Hooks.BeforeNight != nil { // it may have set power limits or clocks
		n.Facts = HostFacts(ctx, n.Command)
	}
	defer func() { err = errors.Join(err, n.hook(ctx, "after-night", n.plan.Hooks.AfterNight, store.Event{})) }()
	decisions, err := n.prepare(ctx)
	if err != nil {
		return n.finish(ctx, err)
	}
	for i, p := range n.plan.Runs {
		if decisions[i].starts() && (stopping(ctx) || n.tooLate()) {
			n.outcome.NotRun++ // what is there already is still told of
			continue
		}
		if err := n.oneRun(ctx, p, decisions[i]); err != nil {
			n.outcome.NotRun += len(n.plan.Runs) - i - 1
			return n.finish(ctx, errors.Join(err, n.facts.close(ctx)))
		}
	}
	return n.finish(ctx, n.facts.close(ctx)) // before the night's last word
}

// prepare decides on every run, clears what dead sweeps left, and decides
// again on what that brought home.
func (n *nightRun) prepare(ctx context.Context) ([]decision, error) {
	decisions, err := n.decideAll(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := n.clearLeftovers(ctx, decisions)
	if err != nil {
		return nil, err
	}
	if decisions, err = n.decideAll(ctx); err != nil {
		return nil, err
	}
	for i := range decisions {
		d := &decisions[i]
		switch {
		case d.ref.Run == kept && kept != "":
			d.why += "; its server is still up"
		case d.reattach:
			if err := n.settle(d); err != nil {
				return nil, err
			}
		}
	}
	return decisions, nil
}

func (n *nightRun) decideAll(ctx context.Context) ([]decision, error) {
	decisions := make([]decision, len(n.plan.Runs))
	for i, p := range n.plan.Runs {
		d, err := n.decide(ctx, p)
		if err != nil {
			return nil, err
		}
		decisions[i] = d
	}
	return decisions, nil
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
		n.outcome.Reused += len(d.have)
		n.outcome.Invalid += d.invalid
		return n.say(e)
	}
	if d.action == leave {
		n.outcome.Failed++
		e := n.runEvent(store.RunSkipped, p, d.ref)
		e.Text = d.why
		return n.say(e)
	}
	status, err := n.attempts(ctx, p, &d)
	if err != nil {
		return err // no RunEnd: the run goes on when the night does
	}
	if status == sweep.StatusInterrupted {
		n.outcome.NotRun++
		return nil
	}
	if status == sweep.StatusFailed {
		n.outcome.Failed++
	}
	end := n.runEvent(store.RunEnd, p, d.ref)
	end.Text = string(status)
	return n.say(end)
}

// finish writes the night's last line. A night that a person or the host
// stopped stays open, so that the same command takes it up again.
func (n *nightRun) finish(ctx context.Context, cause error) error {
	n.outcome.Interrupted = stopping(ctx) && !deadlineReached(ctx)
	e := store.Event{Type: store.NightEnd, Runs: len(n.plan.Runs), Text: n.outcome.summary()}
	switch {
	case cause != nil:
		e.Type, e.Text = store.Stopping, cause.Error()
	case deadlineReached(ctx) && n.outcome.NotRun > 0:
		e.Type, e.Text = store.Stopping, fmt.Sprintf("the deadline %s is reached: %s; the same command takes the rest up", n.plan.Night.Deadline, e.Text)
	case n.outcome.Interrupted:
		e.Type = store.Stopping
	default:
		code := n.outcome.Code()
		e.Code = &code
	}
	return errors.Join(cause, n.say(e))
}

func (o Outcome) summary() string {
	text := fmt.Sprintf("%d levels measured, %d reused, %d runs failed, %d not run", o.Measured, o.Reused, o.Failed, o.NotRun)
	if o.Unmeasured > 0 {
		text += fmt.Sprintf(", %d levels could not be measured", o.Unmeasured)
	}
	if o.Invalid > 0 {
		text += fmt.Sprintf(", %d levels INVALID", o.Invalid)
	}
	return text
}

// stopping tells whether a person asked to stop. What fails after that, fails
// because of it.
func stopping(ctx context.Context) bool { return ctx.Err() != nil }
