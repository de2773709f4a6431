package runner

import (
	"context"
	"errors"
	"path/filepath"

	"sweep/internal/launch"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// startFailure makes a failure of an error on the way to readiness.
func (a *attempt) startFailure(ctx context.Context, err error) (*sweep.Failure, error) {
	if stopping(ctx) {
		return nil, nil
	}
	if a.toldToStop(ctx) {
		a.again = true
		return nil, nil
	}
	var start *launch.StartError
	if !errors.As(err, &start) {
		return a.hostFailure(ctx, "start", err)
	}
	f := &sweep.Failure{Cause: start.Cause, Excerpt: start.Excerpt, Log: a.logPath()}
	if f.Cause.Line == "" {
		f.Cause.Line = start.Error()
	}
	if start.Exit != nil {
		f.Exit = start.Exit.String()
	}
	return f, nil
}

// logPath is where the server's log is kept, relative to the data directory.
func (a *attempt) logPath() string {
	path := filepath.Join(a.Store.AttemptDir(a.decision.ref, a.record.Attempt), "server.log")
	if rel, err := filepath.Rel(a.Store.Path(), path); err == nil {
		return rel
	}
	return path
}

// hostFailure is for steps in which the host, not the server, let us down.
func (a *attempt) hostFailure(ctx context.Context, step string, err error) (*sweep.Failure, error) {
	if stopping(ctx) {
		return nil, nil
	}
	if errors.Is(err, launch.ErrFrozen) {
		return &sweep.Failure{Log: a.logPath(), Cause: sglang.Cause{Code: "container-frozen", Class: sglang.Serving, Phase: sglang.PhaseServing,
			Line: err.Error(), Hint: "somebody or something froze it: let it go on, then run the sweep again"}}, nil
	}
	if errors.Is(err, launch.ErrGone) { // one container, not the host
		return &sweep.Failure{Log: a.logPath(), Cause: sglang.Cause{Code: "container-stopped", Class: sglang.Serving, Phase: sglang.PhaseServing,
			Line: err.Error(), Hint: "see the container's own log and the kernel's: it was stopped, ran out of memory, or its first process ended"}}, nil
	}
	return &sweep.Failure{Cause: sglang.Cause{Code: step + "-failed", Class: sglang.Host, Phase: sglang.PhaseProcess,
		Line: err.Error(), Hint: "see the message, mend the host, and run the sweep again"}}, nil
}

// configFailure is for what the sweep file asks for and this host does not have.
func configFailure(code string, err error, hint string) *sweep.Failure {
	return &sweep.Failure{Cause: sglang.Cause{Code: code, Class: sglang.Config, Phase: sglang.PhaseProcess, Line: err.Error(), Hint: hint}}
}

// toldToStop tells whether the server that was taken up again had been asked to
// stop by the runner before us, a moment before or after we looked: Ctrl-C
// twice leaves such an order on its way.
func (a *attempt) toldToStop(ctx context.Context) bool {
	if !a.decision.reattach {
		return false
	}
	_, state, err := launch.Lookup(ctx, a.Runtime, a.instance, ServerID(a.record.Attempt))
	return err == nil && state.Stopping
}
