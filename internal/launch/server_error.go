package launch

import (
	"fmt"
	"strings"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/supervise"
)

// StartError is a server that did not come up: its process ended, it went
// silent, took too long, or what answered was not it.
type StartError struct {
	Cause   sglang.Cause
	Exit    *supervise.Exit // null when it still lived
	Phase   sglang.PhaseName
	Excerpt []string      // first fatal line of each rank, then the end of the log
	After   time.Duration // since the start
	Port    int
}

// Error is one sentence: what, where, what to do next.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "start server on port %d: %s in phase %s", e.Port, e.Cause.Code, e.Phase)
	if e.After > 0 {
		fmt.Fprintf(&b, " after %s", e.After.Round(100*time.Millisecond))
	}
	if how := exitText(e.Exit); how != "" {
		fmt.Fprintf(&b, " (%s)", how)
	}
	if e.Cause.Line != "" {
		fmt.Fprintf(&b, ": %s", e.Cause.Line)
	}
	if e.Cause.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Cause.Hint)
	}
	return b.String()
}

// exitText says how a process ended: "exit 2", "SIGKILL", "" while it lives.
func exitText(e *supervise.Exit) string {
	if e == nil {
		return ""
	}
	return sglang.ExitInfo{Code: e.Code, Signal: e.Signal, Error: e.Error}.String()
}
