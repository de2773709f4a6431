package runner

import (
	"context"
	"fmt"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// Retries of one run after a failure of each class.
const (
	transientRetries = 2
	servingRetries   = 1
)

// retryPause is how long a transient failure has to pass.
const retryPause = 3 * time.Second

// attempts starts the server until the run is done or its class of failure
// says that another start is no use. It leaves d as it ended.
func (n *nightRun) attempts(ctx context.Context, p sweep.PlannedRun, d *decision) (sweep.Status, error) {
	left := map[sglang.Class]int{sglang.Transient: transientRetries, sglang.Serving: servingRetries}
	if err := n.begin(p, d); err != nil {
		return sweep.StatusFailed, err
	}
	for {
		a, err := n.newAttempt(ctx, p, d)
		if err != nil {
			return sweep.StatusFailed, err
		}
		status, failure, err := a.run(ctx)
		if a.again && err == nil && !stopping(ctx) {
			*d = a.decision
			d.attempt, d.reattach = a.record.Attempt+1, false
			continue
		}
		if err != nil || status != sweep.StatusFailed {
			return status, err
		}
		*d = a.decision
		class := failure.Cause.Class
		switch {
		case class == sglang.Host:
			return status, fmt.Errorf("%w: %s", ErrHost, failure.Cause.Line)
		case failure.Cause.Code == serverChanged:
			d.action, d.ref, d.why = fresh, store.RunRef{ID: p.Config}, "anew: "+failure.Cause.Line
			d.missing, d.have, d.attempt, d.reattach = append(d.missing, d.have...), nil, 1, false
			if err := n.begin(p, d); err != nil {
				return status, err
			}
		case left[class] > 0 && !stopping(ctx):
			left[class]--
			d.attempt, d.reattach = a.record.Attempt+1, false
			if class == sglang.Transient {
				pause(ctx, retryPause)
			}
		default:
			return status, nil
		}
	}
}

// begin names a fresh run and puts the beginning on disk.
func (n *nightRun) begin(p sweep.PlannedRun, d *decision) error {
	if d.action == fresh {
		d.ref.Run = n.Store.NewRunName(time.Now())
	}
	e := n.runEvent(store.RunStart, p, d.ref)
	e.Text = d.why
	return n.say(e)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
