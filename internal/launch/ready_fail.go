package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/supervise"
)

// ended returns the *StartError of a process that is gone, nil while it lives.
// The exit file alone is cheap to look at; full looks at the state too.
func (s *Server) ended(ctx context.Context, full bool) error {
	call, cancel := context.WithTimeout(ctx, s.pace.call)
	defer cancel()
	exit, err := s.held.Exit(call)
	if err == nil && exit == nil && full {
		var state supervise.State
		state, err = s.held.State(call)
		if err == nil && !lives(state) {
			if exit = state.Exit; exit == nil {
				exit = &supervise.Exit{} // gone with its supervisor: how is not known
			}
		}
	}
	if err != nil {
		return fmt.Errorf("look at the %s: %w", s.describe(), err)
	}
	if exit == nil {
		return nil
	}
	cause, _, err := s.Diagnose(ctx, exit)
	return errors.Join(s.fail(cause, exit), err)
}

// hang is a start that does not end. A reason that stands in the log already
// explains it better than the silence after it.
func (s *Server) hang(ctx context.Context, code string) error {
	if err := s.ended(ctx, true); err != nil {
		return err
	}
	if c := s.log.Cause(); c != nil {
		return s.fail(*c, nil)
	}
	phase := s.phase()
	if s.stranger.Load() {
		return s.fail(sglang.NewCause(sglang.CodeForeign, phase,
			fmt.Sprintf("%s answers as healthy while this server's own log is in phase %s", s.URL(), phase)), nil)
	}
	told := s.log.Last()
	if answer := s.answer.Load(); answer != nil {
		told = *answer + "; the log ends with: " + told
	}
	return s.fail(sglang.Hang(code, phase, told), nil)
}

// refused is a server that called itself healthy and failed the first
// generation. Its process often ends a moment later and its log tells why.
func (s *Server) refused(ctx context.Context, failure error) error {
	settled := time.After(s.pace.settle)
	tick := time.NewTicker(s.pace.poll)
	defer tick.Stop()
	for waiting := true; waiting; {
		if err := s.ended(ctx, true); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-settled:
			waiting = false
		case <-ctx.Done():
			return fmt.Errorf("wait for the %s: %w", s.describe(), ctx.Err())
		}
	}
	if err := s.ReadLog(ctx); err != nil {
		return err
	}
	if c := s.log.Cause(); c != nil {
		return s.fail(*c, nil)
	}
	return s.fail(sglang.NewCause(sglang.CodeGeneration, s.phase(), failure.Error()), nil)
}

// phase is where the start stands, from the log and from what was seen: some
// log levels hide the lines that tell.
func (s *Server) phase() sglang.PhaseName {
	phase, _ := s.log.Current()
	if s.healthy.Load() && phase == sglang.PhaseProcess {
		return sglang.PhaseWarmup
	}
	return phase
}

// fail makes the error. Nobody was served yet, so it is a failure of the start
// even when the server called itself ready.
func (s *Server) fail(cause sglang.Cause, exit *supervise.Exit) *StartError {
	if !s.reattached {
		cause = sglang.AtStart(cause)
	}
	return &StartError{Cause: cause, Exit: exit, Phase: cause.Phase, Excerpt: s.log.Excerpt(excerptLines),
		After: time.Since(s.started), Port: s.spec.Port}
}
