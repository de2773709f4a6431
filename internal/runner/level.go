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
	"sweep/internal/supervise"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// levels measures what is missing, in the plan's order.
func (a *attempt) levels(ctx context.Context) (*sweep.Failure, error) {
	for _, level := range a.plan.LevelsOf(a.planned) {
		if stopping(ctx) || a.again {
			return nil, nil
		}
		key := level.Key()
		if !slices.Contains(a.decision.missing, key) {
			e := a.levelEvent(store.LevelReused, level)
			e.Text = "measured before in this run"
			if !a.counted[a.record.Run+key] {
				a.outcome.Reused++
			}
			if err := a.say(e); err != nil {
				return nil, err
			}
			continue
		}
		done := a.orders.level()
		failure, err := a.level(ctx, level)
		done()
		if err != nil || failure != nil {
			return failure, err
		}
	}
	return nil, nil
}

func (a *attempt) levelEvent(t store.EventType, level bench.Level) store.Event {
	e := a.event(t)
	e.Key, e.Level = level.Key(), level.String()
	return e
}

// level measures one level by a bench that is held beside the server, so that
// its CPU and garbage are its own and it outlives us.
func (a *attempt) level(ctx context.Context, level bench.Level) (*sweep.Failure, error) {
	if err := a.say(a.levelEvent(store.LevelStart, level)); err != nil {
		return nil, err
	}
	held, out, err := a.holdBench(ctx, level)
	if err != nil {
		return a.hostFailure(ctx, "bench", err)
	}
	exit, err := a.follow(ctx, level, held)
	if err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		_, stopErr := held.Stop(stop, 2*time.Second)
		if stopping(ctx) {
			return nil, stopErr
		}
		return a.levelFailed(ctx, level, errors.Join(err, stopErr).Error(), true)
	}
	// It has ended: what it measured is brought home also when somebody presses
	// Ctrl-C now.
	home, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	m, err := a.collect(home, level, held, out)
	if none := (*noMeasurement)(nil); errors.As(err, &none) {
		return a.levelFailed(ctx, level, fmt.Sprintf("bench ended with %s: %v", exit, err), true)
	}
	if err != nil {
		a.keep = !errors.Is(err, launch.ErrGone)
		return a.hostFailure(ctx, "collect", fmt.Errorf("bring %s home: %w", level, err))
	}
	return a.measured(ctx, level, m)
}

// measured tells of a measurement that is on disk.
func (a *attempt) measured(ctx context.Context, level bench.Level, m bench.Measurement) (*sweep.Failure, error) {
	if !m.Usable() {
		return a.levelFailed(ctx, level, fmt.Sprintf("ended early (%s) after %d of %d requests", m.Ended, m.Completed, m.Asked), false)
	}
	a.decision.missing = slices.DeleteFunc(a.decision.missing, func(k string) bool { return k == level.Key() })
	a.decision.have = append(a.decision.have, level.Key())
	e := a.levelEvent(store.LevelEnd, level)
	e.Figures = a.figures(m)
	a.outcome.Measured++
	a.counted[a.record.Run+level.Key()] = true
	if e.Figures.Verdict == string(verdict.IsInvalid) {
		a.outcome.Invalid++
	}
	return nil, a.say(e)
}

// levelFailed looks whose fault it was. A server that died, hangs or says why
// fails the attempt. Where only the bench could not work (its limits, a request
// the server refuses), the level stays unmeasured and the ladder goes on.
func (a *attempt) levelFailed(ctx context.Context, level bench.Level, why string, bench bool) (*sweep.Failure, error) {
	if stopping(ctx) {
		return nil, nil
	}
	if a.toldToStop(ctx) {
		a.again = true
		return nil, nil
	}
	e := a.levelEvent(store.LevelFailed, level)
	e.Text = why
	if err := a.say(e); err != nil {
		return nil, err
	}
	alive, exit, err := a.serverEnded(ctx)
	if err != nil {
		return a.hostFailure(ctx, "server", err)
	}
	cause, excerpt, err := a.server.Diagnose(ctx, exit)
	if err != nil {
		return a.hostFailure(ctx, "server", err)
	}
	f := &sweep.Failure{Level: level.Key(), Cause: cause, Excerpt: excerpt, Log: a.logPath()}
	switch {
	case alive && a.server.Log().Cause() == nil && bench:
		a.record.Unmeasured = append(a.record.Unmeasured, sweep.Unmeasured{Key: level.Key(), Reason: why})
		a.outcome.Unmeasured++
		return nil, a.save()
	case alive && a.server.Log().Cause() == nil:
		f.Cause = sglang.Cause{Code: "level-failed", Class: sglang.Serving, Phase: sglang.PhaseServing, Line: why,
			Hint: "server.log and levels/" + level.Key() + "/bench.log of this attempt say more"}
	}
	if exit != nil {
		f.Exit = exit.String()
	}
	return f, nil
}

// deathTime is how long a server that let its streams go may take to be gone:
// it logs its last words first.
const deathTime = 3 * time.Second

// serverEnded looks whether the server lives, and gives a dying one the time
// to die.
func (a *attempt) serverEnded(ctx context.Context) (alive bool, exit *supervise.Exit, err error) {
	for deadline := time.Now().Add(deathTime); ; time.Sleep(100 * time.Millisecond) {
		alive, exit, err = a.server.Alive(ctx)
		if !alive || err != nil || stopping(ctx) || time.Now().After(deadline) {
			return alive, exit, err
		}
	}
}

// figures are the headline numbers of a measurement, judged.
func (a *attempt) figures(m bench.Measurement) *store.Figures {
	run := sweep.Run{ID: a.config.ID, Name: a.record.Run, Records: []sweep.Record{a.record}, Measurements: []bench.Measurement{m}}
	findings := verdict.Judge([]sweep.Run{run}, verdict.Limits{})
	f := &store.Figures{OutputThroughput: m.Headline(), TTFTp50: m.TTFT.P50, TPOTp50: m.TPOT.P50,
		Completed: m.Completed, Failed: m.Failed, Verdict: string(verdict.Of(findings, a.record.Run, m.Key))}
	if r := a.record.Fingerprint.Server; r != nil {
		f.Simulated = r.Simulated
	}
	for _, x := range findings {
		if x.Grade != verdict.Note {
			f.Findings = append(f.Findings, x.Code+": "+x.Seen)
		}
	}
	return f
}
