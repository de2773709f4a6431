package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sweep/internal/store"
)

// errDeadline ends a night's context because its time is over. What was not
// reached then was not run, which is no interruption by a person.
var errDeadline = errors.New("the deadline is reached")

// deadlineOf is when the night has to be over, counted from now; zero for one
// that may take as long as it takes.
func (n *nightRun) deadlineOf(now time.Time) (time.Time, error) {
	if n.plan.Night.Deadline == nil {
		return time.Time{}, nil
	}
	at, err := n.plan.Night.Deadline.After(now, time.Local)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrHost, err)
	}
	return at, nil
}

// alarm rings once at a time; nil for none, which never rings. It looks at the
// wall clock again and again: a timer stands still while a machine sleeps.
func alarm(ctx context.Context, at time.Time) <-chan struct{} {
	if at.IsZero() {
		return nil
	}
	rings := make(chan struct{})
	go func() {
		for time.Now().Before(at) {
			pause(ctx, min(time.Until(at), time.Minute))
			if ctx.Err() != nil {
				return
			}
		}
		close(rings)
	}()
	return rings
}

// tooLate tells that a run that began now could not be ready before the
// deadline: no start of this night was quicker than what is left. The night
// then ends, so that nothing is started to be thrown away.
func (n *nightRun) tooLate() bool {
	left := time.Until(n.deadline)
	if n.deadline.IsZero() || n.quickest == 0 || left > n.quickest {
		return false
	}
	n.orders.finish(errDeadline)
	return true
}

// sawStart remembers the quickest start of the night.
func (n *nightRun) sawStart(seconds float64) {
	if took := time.Duration(seconds * float64(time.Second)); n.quickest == 0 || took < n.quickest {
		n.quickest = took
	}
}

// deadlineReached tells whether it was the deadline that ended ctx.
func deadlineReached(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errDeadline)
}

// saysDeadline is what the journal says when the deadline rings.
func (n *nightRun) saysDeadline(inFlight bool) error {
	text := fmt.Sprintf("the deadline %s is reached; the server is being ended", n.plan.Night.Deadline)
	if inFlight {
		text = fmt.Sprintf("the deadline %s is reached; the level in flight is measured to its end", n.plan.Night.Deadline)
	}
	return n.say(store.Event{Type: store.Stopping, Phase: store.StopAsked, Text: text})
}

// cooldown gives the host its rest before a start that is not the night's
// first.
func (a *attempt) cooldown(ctx context.Context) error {
	rest := a.plan.Night.Cooldown
	if rest <= 0 || a.decision.reattach {
		return nil
	}
	first := !a.rested
	a.nightRun.rested = true
	if first {
		return nil
	}
	e := a.event(store.PhaseStart)
	seconds := rest.Seconds()
	e.Phase, e.Seconds = "cooldown", &seconds
	if err := a.say(e); err != nil {
		return err
	}
	pause(ctx, rest)
	return nil
}
