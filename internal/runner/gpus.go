package runner

import (
	"context"
	"strings"
	"time"

	"sweep/internal/gpu"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

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

// provenFree proves the GPUs free, or says why there is nothing to prove.
// Where GPUs were seen before, "not known" is not "free".
func (a *attempt) provenFree(ctx context.Context) (how string, left []string) {
	switch {
	case a.simulated():
		return "not looked at: simulated server", nil
	case a.instance.Name == "":
		return "not looked at: nothing was started", nil
	}
	busy, last := gpu.WaitFree(ctx, a.Command, time.Second)
	switch {
	case len(busy) > 0:
		return "not clean", busy
	case len(last.GPUs) == 0 && len(a.Facts.GPUs) > 0:
		return "not known", []string{"GPUs cannot be looked at: " + last.Note}
	case len(last.GPUs) == 0:
		return "not looked at: " + last.Note, nil
	}
	return "clean", nil
}
