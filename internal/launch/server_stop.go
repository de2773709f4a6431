package launch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// StopReport is the proof that a server is gone, or what is left of it.
type StopReport struct {
	Clean   bool // no live process, and the port refuses
	Killed  bool // TERM was not enough: something lived on through the grace
	Seconds float64
	Left    []string // what still lives or answers; empty when clean
}

// portPause is how often a closing port is tried.
const portPause = 50 * time.Millisecond

// Stop ends the server: TERM, grace, KILL of its whole tree. It returns when
// nothing of it lives and its port refuses, or with what is left. A server
// that ended by itself is proven gone in the same way. It may be called again.
func (s *Server) Stop(ctx context.Context) (StopReport, error) {
	begun := time.Now()
	s.client.Close()
	state, err := s.held.Stop(ctx, s.spec.Grace)
	report := StopReport{Killed: state.Killed}
	if errors.Is(err, ErrGone) { // its container stopped, and took everything with it
		return StopReport{Clean: true, Seconds: time.Since(begun).Seconds()}, nil
	}
	if err != nil {
		err = fmt.Errorf("stop %s: %w", s.describe(), err)
		report.Left = append(report.Left, "not known: the stop failed")
	} else if state.Alive > 0 {
		report.Left = append(report.Left, fmt.Sprintf("%d processes of the server", state.Alive))
	}
	if holder := s.untilClosed(ctx); holder != "" {
		report.Left = append(report.Left, holder)
	}
	if state.Alive == 0 && err == nil {
		report.Left = append(report.Left, s.reach.clearShm(ctx, s.started)...)
	}
	report.Clean = len(report.Left) == 0
	report.Seconds = time.Since(begun).Seconds()
	return report, errors.Join(err, s.ReadLog(ctx))
}

// untilClosed waits until the port refuses, and says who holds it, or why that
// is not known, if it does not to the end.
func (s *Server) untilClosed(ctx context.Context) string {
	deadline, cancel := context.WithTimeout(ctx, s.pace.closed)
	defer cancel()
	seen := false // it was open, the last time that it could be looked at
	for {
		open, err := s.reach.open(deadline, s.spec.Port)
		if err == nil {
			seen = open
		}
		if !open && err == nil || errors.Is(err, ErrGone) {
			return ""
		}
		select {
		case <-deadline.Done():
			if err != nil && !seen {
				return "not known whether the port is free: " + err.Error()
			}
			if who, err := s.reach.holder(ctx, s.spec.Port); err == nil && who != "" {
				return who
			}
			return takenText(s.address, s.spec.Port)
		case <-time.After(portPause):
		}
	}
}
