package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sweep/internal/bench"
	"sweep/internal/gpu"
	"sweep/internal/launch"
	"sweep/internal/sglang"
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
		Fingerprint: sweep.Fingerprint{Host: n.Facts, Packages: n.facts.packages(ctx, *c), Sweep: n.Version},
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
	case (stopping(ctx) || err != nil) && !a.complete():
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
	if failure := a.checkGPUs(ctx); failure != nil {
		return failure, nil
	}
	if failure := a.beforeRun(ctx); failure != nil {
		return failure, nil
	}
	a.instance.Name = instanceName(a.record.Run) // known to the teardown before it is there
	instance, err := a.Runtime.Create(ctx, launch.InstanceSpec{Name: a.instance.Name, Labels: map[string]string{
		"sweep": a.night.ID(), "id": a.config.ID, "run": a.record.Run}})
	if err != nil {
		return a.hostFailure(ctx, "instance", err)
	}
	a.instance = instance
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

// serverSpec is the server of this attempt, as it was or will be started.
func (a *attempt) serverSpec() launch.ServerSpec {
	argv := slices.Clone(a.record.Argv)
	if argv[0] == "sweep" {
		argv[0] = a.instance.Bin
	}
	return launch.ServerSpec{HoldID: serverID(a.record.Attempt), Argv: argv, Secrets: a.Secrets, Port: a.record.Port, Ready: launch.Budget{Timeout: a.plan.Ready.Timeout, Stall: a.plan.Ready.Stall}}
}

// environment is the server's: the env-file's variables, and those of the
// configuration over them.
func (a *attempt) environment(ctx context.Context) ([]string, error) {
	own := append(a.config.Environ(), a.config.Unset()...)
	if a.config.EnvFile == "" {
		return own, nil
	}
	text, err := a.Runtime.Files(a.instance).ReadAt(ctx, a.config.EnvFile, 0, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("read env-file %s: %w", a.config.EnvFile, err)
	}
	settings, err := sweep.EnvFile(text)
	if err != nil {
		return nil, fmt.Errorf("read env-file %s: %w", a.config.EnvFile, err)
	}
	return append(sweep.Configuration{Env: settings}.Environ(), own...), nil
}

// serverID is what the server of an attempt is held under.
func serverID(attempt int) string { return fmt.Sprintf("server-%d", attempt) }

// serverChanged is the cause of an attempt whose server is not the one that
// measured the run's other levels.
const serverChanged = "server-changed"

// becomeReady records what the server turned out to be. A run is only
// completed by the same server that began it.
func (a *attempt) becomeReady(ready launch.Readiness) (*sweep.Failure, error) {
	run, _, err := a.Store.LoadRun(a.decision.ref)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", a.record.Run, err)
	}
	for _, r := range run.Records {
		measured := slices.ContainsFunc(run.Measurements, func(m bench.Measurement) bool { return m.Attempt == r.Attempt && m.Usable() })
		if diff := sweep.ServerDiff(r.Fingerprint.Server, ready.Resolved); diff != "" && measured {
			return &sweep.Failure{Cause: sglang.Cause{Code: serverChanged, Class: sglang.Config, Phase: sglang.PhaseServing,
				Line: "the server is not the one this run was begun with: " + diff, Hint: "the run is begun anew"}}, nil
		}
	}
	if a.record.ReadySeconds == nil {
		a.record.Phases = ready.Phases
		a.record.ReadySeconds = &ready.Seconds
	}
	a.record.Fingerprint.Server = ready.Resolved
	e := a.event(store.Ready)
	if e.Seconds = a.record.ReadySeconds; a.decision.reattach {
		e.Text = "its server serves on"
	}
	return nil, errors.Join(a.save(), a.say(e))
}

// progress turns the phases of a start into events, one a phase and at most
// one in two seconds while it lasts.
func (a *attempt) progress() func(launch.Progress) {
	var phase sglang.PhaseName
	var last time.Time
	return func(p launch.Progress) {
		if p.Phase == phase && time.Since(last) < 2*time.Second {
			return
		}
		phase, last = p.Phase, time.Now()
		e := a.event(store.PhaseStart)
		e.Phase, e.Progress = string(p.Phase), p.Fraction
		_ = a.say(e) // a full disk shows at the next state change
	}
}

// freeTime is how long GPU memory may take to come back after something of an
// earlier sweep was ended.
const freeTime = 2 * time.Minute

// checkGPUs refuses to start on cards that somebody holds, or that can no
// longer be looked at.
func (a *attempt) checkGPUs(ctx context.Context) *sweep.Failure {
	if a.decision.reattach || a.simulated() || len(a.Facts.GPUs) == 0 {
		return nil
	}
	last := gpu.Look(ctx, a.Command)
	busy := last.Busy()
	if len(busy) > 0 && a.cleared {
		ctx, cancel := context.WithTimeout(ctx, freeTime)
		defer cancel()
		busy, last = gpu.WaitFree(ctx, a.Command, time.Second)
	}
	a.nightRun.cleared = false
	cause := sglang.Cause{Code: "gpus-not-clean", Class: sglang.Host, Phase: sglang.PhaseProcess,
		Line: strings.Join(busy, "; "), Hint: "end the process that holds the card, then run the sweep again"}
	switch {
	case len(last.GPUs) == 0:
		cause.Code, cause.Line, cause.Hint = "gpus-not-seen", last.Note, "see what nvidia-smi says on the host, then run the sweep again"
	case len(busy) == 0:
		return nil
	}
	return &sweep.Failure{Cause: cause}
}

// simulated tells whether the server is this binary's own simulator, which
// touches no GPU.
func (a *attempt) simulated() bool { return a.config.Command[0] == "sweep" }

// instanceName is the name of a run's instance: letters, digits and dashes.
func instanceName(run string) string {
	return "sweep-" + strings.NewReplacer(".", "-", "T", "-").Replace(run)
}
