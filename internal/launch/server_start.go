package launch

import (
	"context"
	"fmt"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/supervise"
)

// StartServer starts a server in an instance and returns at once: WaitReady
// waits for it. When the same HoldID was started before, that server is taken
// up again as it is. Otherwise the port must be free: what holds it is named in
// the *StartError.
func StartServer(ctx context.Context, rt Runtime, in Instance, spec ServerSpec) (*Server, error) {
	held, state, err := Lookup(ctx, rt, in, spec.HoldID)
	if err != nil {
		return nil, fmt.Errorf("look for server %s: %w", spec.HoldID, err)
	}
	if state.Phase != supervise.Absent {
		return newServer(held, reachOf(rt, in), in.Address, spec, since(state), true), nil
	}
	taken, err := reachOf(rt, in).holder(ctx, spec.Port)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", spec.HoldID, err)
	}
	if taken != "" {
		return nil, &StartError{Cause: sglang.NewCause(sglang.CodePortTaken, sglang.PhaseProcess, taken),
			Phase: sglang.PhaseProcess, Port: spec.Port}
	}
	started := time.Now()
	held, err = Hold(ctx, rt, in, supervise.Spec{ID: spec.HoldID, Argv: spec.Argv, Env: spec.Env, Grace: spec.Grace, Secrets: spec.Secrets})
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", spec.HoldID, err)
	}
	return newServer(held, reachOf(rt, in), in.Address, spec, started, false), nil
}

// since is when a held process was started, now where that is not known.
func since(state supervise.State) time.Time {
	at, err := time.Parse(time.RFC3339, state.Since)
	if err != nil {
		return time.Now()
	}
	return at
}
