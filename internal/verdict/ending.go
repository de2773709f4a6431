package verdict

import (
	"fmt"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

// serverDied fires on the level under which the server ended. Levels that were
// whole before it stand.
func serverDied(x measured, _ Limits) *sight {
	var how string
	if r := x.record; r != nil && r.Failure != nil && r.Failure.Level == x.m.Key {
		how = r.Failure.Cause.Code
		if r.Failure.Exit != "" {
			how += ", " + r.Failure.Exit
		}
		how = " (" + how + ")"
	} else if x.m.Ended != bench.ServerGone {
		return nil
	}
	return &sight{Invalid, fmt.Sprintf("the server ended under this level%s; %s", how, answered(x.m)), "the server serves to the end"}
}

func stalled(x measured, _ Limits) *sight {
	if x.m.Ended != bench.Stalled {
		return nil
	}
	return &sight{Invalid, "no token came on any stream for the whole stall budget; " + answered(x.m), "a token within the stall budget (120 s unless the level says more)"}
}

// interrupted keeps a level that was cut short out of every ranking: its
// window is mostly ramp.
func interrupted(x measured, _ Limits) *sight {
	if x.m.Ended != bench.Interrupted {
		return nil
	}
	return &sight{Invalid, "the level was interrupted; " + answered(x.m), "a level runs to its end"}
}

// maxLevel tells that max-level ended the issuing, so that other figures of the
// level stand for less than was asked for. Without a steady part nothing is left
// but ramp-up and drain, and no headline. That nothing was sent at all is
// requests-failed.
func maxLevel(x measured, _ Limits) *sight {
	m := x.m
	if m.Ended != bench.AtMaxLevel || m.Issued == 0 {
		return nil
	}
	limit := ""
	if m.MaxLevel > 0 {
		limit = " of " + m.MaxLevel.String()
	}
	seen := fmt.Sprintf("the level ended at max-level%s after %d of %d prompts", limit, m.Issued, m.Asked)
	if m.Cut > 0 {
		seen += fmt.Sprintf(", %d of them cut off in flight", m.Cut)
	}
	if m.Headline() == nil {
		return &sight{Suspect, seen + ", without a steady state: it has no output tok/s to compare", "a steady state before max-level"}
	}
	return &sight{Note, seen + fmt.Sprintf(": its output tok/s are those of the steady state, %.3g s", m.Steady.Seconds), "every prompt is issued before max-level"}
}

func answered(m bench.Measurement) string {
	return fmt.Sprintf("%d of %d requests were answered until then", m.Completed, m.Asked)
}

// simulated marks a run whose server said of itself that it is the simulated
// one.
func simulated(run sweep.Run, _ Limits) *sight {
	for _, r := range run.Records {
		if r.Fingerprint.Server != nil && r.Fingerprint.Server.Simulated {
			return &sight{Note, "a simulated server answered: these are no figures of real hardware", "a real server"}
		}
	}
	return nil
}

// notIdentified fires when a server that served would not say what it is: then
// neither its arguments nor a foreign answer on its port can be seen.
func notIdentified(run sweep.Run, _ Limits) *sight {
	for _, r := range run.Records {
		if r.ReadySeconds != nil && r.Fingerprint.Server == nil {
			return &sight{Suspect, fmt.Sprintf("attempt %d served but did not say what it is", r.Attempt), "a readable /server_info"}
		}
	}
	return nil
}
