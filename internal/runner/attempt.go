package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// attempt is one start of the server inside a run.
type attempt struct {
	*nightRun
	planned  sweep.PlannedRun
	decision decision
	config   sweep.Configuration
	record   sweep.Record
	instance launch.Instance
	server   *launch.Server
	again    bool // the server that was taken up again had been told to stop before: another start, and nobody's failure
	keep     bool // the instance holds what could not be brought home: it is not removed
}

// teardownTime bounds everything after the last level: TERM, grace, KILL,
// removal, and waiting for GPU memory to come back.
const teardownTime = 3 * time.Minute

// newAttempt prepares the next attempt of a run. A re-attached one keeps its
// record: the argv and port are those its server was started with.
func (n *nightRun) newAttempt(ctx context.Context, p sweep.PlannedRun, d *decision) (*attempt, error) {
	c := n.plan.Configuration(p.Config)
	if c == nil {
		return nil, fmt.Errorf("the plan names configuration %s in run %d but does not describe it", p.Config, p.Ordinal)
	}
	a := &attempt{nightRun: n, planned: p, decision: *d, config: *c}
	if d.reattach {
		run, _, err := n.Store.LoadRun(d.ref)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", d.ref.Run, err)
		}
		for _, r := range run.Records {
			if r.Attempt == d.attempt {
				a.record = r
				a.record.Sweep = n.night.ID()
				return a, nil
			}
		}
		d.reattach = false
	}
	a.record = sweep.Record{
		Schema: sweep.Schema, Sweep: n.night.ID(), Run: d.ref.Run, Repeat: p.Repeat, Attempt: d.attempt,
		Configuration: *c, Argv: p.Argv, Port: p.Port, Started: time.Now(), Status: sweep.StatusRunning,
		Fingerprint: sweep.Fingerprint{Host: n.Facts, Packages: n.made(ctx, *c).Packages, Sweep: n.Version},
	}
	return a, nil
}

// event starts an event about this attempt.
func (a *attempt) event(t store.EventType) store.Event {
	e := a.runEvent(t, a.planned, a.decision.ref)
	e.Attempt = a.record.Attempt
	return e
}

// save puts the record on disk.
func (a *attempt) save() error {
	if err := a.Store.WriteRecord(a.record); err != nil {
		return fmt.Errorf("write the record of run %s: %w", a.record.Run, err)
	}
	return nil
}

// run makes the attempt from the first check to the proof that nothing is
// left. A failure of the server is returned as data; an error ends the night.
func (a *attempt) run(ctx context.Context) (status sweep.Status, failure *sweep.Failure, err error) {
	e := a.event(store.AttemptStart)
	e.Text = "new"
	if a.decision.reattach {
		e.Text = "re-attached"
	}
	if err := errors.Join(a.save(), a.say(e)); err != nil {
		return sweep.StatusFailed, nil, err
	}
	defer func() {
		if p := recover(); p != nil { // a bug of ours must not keep the GPUs
			_ = a.teardown(ctx)
			panic(p)
		}
	}()
	failure, err = a.measure(ctx)
	torn := a.teardown(ctx)
	if hookErr := a.hook(ctx, "after-run", a.plan.Hooks.AfterRun, a.event(store.Hook)); hookErr != nil && failure == nil {
		failure = configFailure("hook-failed", hookErr, hookHint)
	}

	now := time.Now()
	a.record.Ended, a.record.Failure = &now, failure
	switch {
	case failure != nil:
		a.record.Status = sweep.StatusFailed
	case (stopping(ctx) || err != nil || a.again) && !a.complete():
		a.record.Status = sweep.StatusInterrupted
	default:
		a.record.Status = sweep.StatusDone
	}
	err = errors.Join(err, a.save())
	if failure != nil {
		e := a.event(store.AttemptFailed)
		e.Text, e.Cause, e.Phase = failure.Cause.Line, failure.Cause.Code, string(failure.Cause.Phase)
		err = errors.Join(err, a.say(e))
	}
	e = a.event(store.AttemptEnd)
	e.Seconds, e.Text = &a.record.Teardown.Seconds, "clean"
	if !a.record.Teardown.Clean {
		e.Text = strings.Join(a.record.Teardown.Left, "; ")
	}
	return a.record.Status, failure, errors.Join(err, a.say(e), torn)
}

// complete tells whether every planned level has a usable measurement.
func (a *attempt) complete() bool { return len(a.decision.missing) == 0 }

// measure starts the server, waits until it serves, and measures the missing
// levels. A nil failure with an ended ctx means that a person asked to stop.
func (a *attempt) measure(ctx context.Context) (*sweep.Failure, error) {
	if err := a.cooldown(ctx); err != nil || stopping(ctx) {
		return nil, err
	}
	if failure := a.checkGPUs(ctx); failure != nil {
		return failure, nil
	}
	if failure := a.beforeRun(ctx); failure != nil {
		return failure, nil
	}
	a.instance.Name = instanceName(a.record.Run) // known to the teardown before it is there
	instance, err := a.Runtime.Create(ctx, launch.InstanceSpec{Name: a.instance.Name, Origin: check.OriginOf(a.config.Container), Labels: map[string]string{
		"sweep": a.night.ID(), "id": a.config.ID, "run": a.record.Run}})
	if errors.Is(err, launch.ErrOrigin) && !stopping(ctx) {
		return configFailure("instance-missing", err, "see the message; `sweep check` looks before the night"), nil
	}
	if err != nil {
		return a.hostFailure(ctx, "instance", err)
	}
	a.instance = instance
	if failure := a.checkModel(ctx); failure != nil {
		return failure, nil
	}
	spec := a.serverSpec()
	env, envErr := a.environment(ctx)
	if envErr != nil {
		return configFailure("env-file", envErr, "mend the file or the sweep file's server.env-file"), nil
	}
	spec.Env = env
	if a.server, err = launch.StartServer(ctx, a.Runtime, instance, spec); err != nil {
		return a.startFailure(ctx, err)
	}
	if a.decision.reattach {
		if failure, err := a.finishBench(ctx); failure != nil || err != nil {
			return failure, err
		}
	}
	ready, err := a.server.WaitReady(ctx, a.progress())
	if err != nil {
		a.record.Phases = a.server.Log().Phases()
		return a.startFailure(ctx, err)
	}
	if failure, err := a.becomeReady(ready); failure != nil || err != nil {
		return failure, err
	}
	return a.levels(ctx)
}

// simulated tells whether the server is this binary's own simulator, which
// touches no GPU.
func (a *attempt) simulated() bool { return a.config.Command[0] == "sweep" }

// instanceName is the name of a run's instance: letters, digits and dashes.
func instanceName(run string) string {
	return "sweep-" + strings.NewReplacer(".", "-", "T", "-").Replace(run)
}
