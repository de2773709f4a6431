package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sweep/internal/sglang"
)

// Budget bounds a start.
type Budget struct {
	Timeout time.Duration // hard cap over all phases; 0 means DefaultReadyTimeout
	Stall   time.Duration // without any growth of the log; 0 means DefaultReadyStall
}

// What a start may take when the sweep file does not say. Large models load for
// minutes, and a first start may compile kernels in silence for longer.
const (
	DefaultReadyTimeout = 45 * time.Minute
	DefaultReadyStall   = 15 * time.Minute
)

// phase is how long one phase may last, so that a hang in one that is short by
// nature is not waited for until the cap over all; it grows with that cap. 0
// means that the cap and the silence of the log bound it alone: kernels have
// been seen to compile for 25 minutes at the first start, and 400 GB take their
// time from a cold disk.
func (b Budget) phase(name sglang.PhaseName) time.Duration {
	var usual time.Duration
	switch name {
	case sglang.PhaseProcess, sglang.PhaseWarmup: // a download, a first compilation may hide here
		usual = 20 * time.Minute
	case sglang.PhaseInit, sglang.PhaseKV:
		usual = 10 * time.Minute
	case sglang.PhaseHTTP:
		usual = 5 * time.Minute
	}
	return max(usual, time.Duration(float64(usual)*float64(b.Timeout)/float64(DefaultReadyTimeout)))
}

// overdue tells whether the phase that lasts has lasted longer than its budget.
func (b Budget) overdue(phases []sglang.Phase, now time.Time) bool {
	if len(phases) == 0 {
		return false
	}
	last := phases[len(phases)-1]
	limit := b.phase(last.Name)
	return limit > 0 && last.Seconds == nil && now.Sub(last.Started) > limit
}

func (b Budget) orDefault() Budget {
	if b.Timeout <= 0 {
		b.Timeout = DefaultReadyTimeout
	}
	if b.Stall <= 0 {
		b.Stall = DefaultReadyStall
	}
	return b
}

// Readiness is a server that serves.
type Readiness struct {
	Phases                 []sglang.Phase
	Seconds                float64          // from the start to the end of the first real generation; when re-attached, to when the log says it served
	FirstGenerationSeconds float64          // that request alone; it enters no metric
	Resolved               *sglang.Resolved // null when the server did not say
	Reattached             bool
}

// WaitReady waits until the server really serves: its process lives, its log
// goes through the phases, /health answers 200, one real generation returns a
// token, and what answers is this server. An open port and /v1/models prove
// nothing. It fails with a *StartError as soon as the process ends, when the
// log does not grow for the stall budget, when a phase outlasts its own budget,
// at the hard cap, and when the first generation fails. It never stops the server: that is Stop's.
//
// onProgress (may be nil) is called when phase or fraction changes.
func (s *Server) WaitReady(ctx context.Context, onProgress func(Progress)) (Readiness, error) {
	begun, budget := s.started, s.spec.Ready.orDefault()
	if s.reattached {
		begun = time.Now() // the budget is that of this wait
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	look := looker{server: s}
	if err := look.once(ctx); err != nil { // before the first probe: it is judged by the log
		return Readiness{}, err
	}
	probed := make(chan probe, 1)
	go func() { probed <- s.probe(ctx) }()

	tick := time.NewTicker(s.pace.poll)
	defer tick.Stop()
	report := reporter{to: onProgress}
	for {
		report.say(s)
		switch now := time.Now(); {
		case now.Sub(begun) > budget.Timeout:
			return Readiness{}, s.hang(ctx, sglang.CodeTimeout)
		case budget.overdue(s.log.Phases(), now):
			return Readiness{}, s.hang(ctx, sglang.CodeStalled)
		case s.silent(now) > budget.Stall:
			return Readiness{}, s.hang(ctx, sglang.CodeStalled)
		}
		select {
		case p := <-probed:
			ready, err := s.judge(ctx, p)
			report.say(s)
			return ready, err
		case <-tick.C:
		case <-ctx.Done():
			return Readiness{}, fmt.Errorf("wait for the %s: %w", s.describe(), ctx.Err())
		}
		if err := look.once(ctx); err != nil {
			return Readiness{}, err
		}
	}
}

// judge turns what the probes found into readiness or a failure.
func (s *Server) judge(ctx context.Context, p probe) (Readiness, error) {
	if p.err != nil {
		return Readiness{}, s.refused(ctx, p.err)
	}
	if foreign := foreignTo(s.spec, p.resolved); foreign != "" {
		return Readiness{}, s.fail(sglang.NewCause(sglang.CodeForeign, sglang.PhaseServing, foreign), nil)
	}
	if err := s.ended(ctx, true); err != nil { // another server may have answered in its place
		return Readiness{}, err
	}
	if err := s.ReadLog(ctx); err != nil {
		return Readiness{}, err
	}
	r := Readiness{Phases: s.log.Phases(), Seconds: p.at.Sub(s.started).Seconds(), FirstGenerationSeconds: p.took.Seconds(),
		Resolved: p.resolved, Reattached: s.reattached}
	if n := len(r.Phases); s.reattached && n > 0 && r.Phases[n-1].Name == sglang.PhaseServing {
		r.Seconds = r.Phases[n-1].Started.Sub(s.started).Seconds()
	}
	return r, nil
}

// looker looks at the process and its log, and forgives an instance that
// cannot be reached for a while: a container daemon may restart.
type looker struct {
	server *Server
	count  int
	lost   time.Time // since when every look failed
}

// stateEvery is how many looks lie between two full ones: only these see that
// a supervisor was killed.
const stateEvery = 25

// once returns the *StartError of a process that ended, or what keeps the
// instance from being looked at.
func (l *looker) once(ctx context.Context) error {
	err := l.server.ended(ctx, l.count%stateEvery == 0)
	l.count++
	if err == nil {
		err = l.server.ReadLog(ctx)
	}
	if failed := (*StartError)(nil); err == nil || errors.As(err, &failed) {
		l.lost = time.Time{}
		return err
	}
	if l.lost.IsZero() {
		l.lost = time.Now()
	}
	if time.Since(l.lost) > l.server.pace.lost {
		return err
	}
	return nil
}
