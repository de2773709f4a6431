package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sweep/internal/bench"
	"sweep/internal/launch"
	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// serverSpec is the server of this attempt, as it was or will be started.
func (a *attempt) serverSpec() launch.ServerSpec {
	argv := slices.Clone(a.record.Argv)
	if argv[0] == "sweep" {
		argv[0] = a.instance.Bin
	}
	return launch.ServerSpec{HoldID: ServerID(a.record.Attempt), Argv: argv, Secrets: a.Secrets, Port: a.record.Port, Ready: launch.Budget{Timeout: a.plan.Ready.Timeout, Stall: a.plan.Ready.Stall}}
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

// ServerID is what the server of an attempt is held under.
func ServerID(attempt int) string { return fmt.Sprintf("server-%d", attempt) }

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
		a.sawStart(ready.Seconds)
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
