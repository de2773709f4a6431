package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// hookTime bounds one hook: setting power limits takes seconds.
const hookTime = 10 * time.Minute

// hook runs one of the file's hooks on the host, on a context that Ctrl-C does
// not cut, and puts what it said into the journal. No hook is no error.
func (n *nightRun) hook(ctx context.Context, name string, argv []string, e store.Event) error {
	if len(argv) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookTime)
	defer cancel()
	began := time.Now()
	out, code, err := n.Command.Run(ctx, argv...)
	took := time.Since(began).Seconds()
	e.Type, e.Phase, e.Seconds, e.Code = store.Hook, name, &took, &code
	e.Text = strings.Join(argv, " ")
	if said := sglang.Plain(strings.TrimSpace(string(out[:min(len(out), 500)]))); said != "" {
		e.Text += ": " + said
	}
	if sayErr := n.say(e); sayErr != nil {
		return sayErr
	}
	if err != nil {
		return fmt.Errorf("hook %s: %w", name, err)
	}
	if code != 0 {
		return fmt.Errorf("hook %s ended with exit %d: %s", name, code, e.Text)
	}
	return nil
}

const hookHint = "run the hook by hand and mend it"

// beforeRun runs the hook before an attempt; its failure is the attempt's.
func (a *attempt) beforeRun(ctx context.Context) *sweep.Failure {
	if a.decision.reattach {
		return nil
	}
	if err := a.hook(ctx, "before-run", a.plan.Hooks.BeforeRun, a.event(store.Hook)); err != nil {
		return configFailure("hook-failed", err, hookHint)
	}
	return nil
}
