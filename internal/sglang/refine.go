package sglang

import "fmt"

// ExitInfo is how the server's process ended, and where its start stood.
type ExitInfo struct {
	Code      *int      // exit status; null when a signal ended it or it never started
	Signal    string    // "SIGKILL" and the like
	Error     string    // why it could not be started
	OOMKilled *bool     // the cgroup counted an out-of-memory kill; null where it cannot be read
	Phase     PhaseName // where the log stood
	Last      string    // last line of the log
}

// String says it in two words: "exit 2", "SIGKILL".
func (e ExitInfo) String() string {
	switch {
	case e.Error != "":
		return "could not be started"
	case e.Code != nil:
		return fmt.Sprintf("exit %d", *e.Code)
	case e.Signal != "":
		return e.Signal
	}
	return "end unknown"
}

// killed is whether SIGKILL ended it, as seen directly or by a shell.
func (e ExitInfo) killed() bool {
	return e.Signal == "SIGKILL" || e.Code != nil && *e.Code == 137
}

// Refine adds to the cause that the log tells (nil: none) what the process's
// end tells. A reason in the log stands: most crashes of sglang end in SIGKILL
// by its own hand. The out-of-memory killer is named only when the kernel's
// counter proves it.
func Refine(c *Cause, e ExitInfo) Cause {
	oom := e.OOMKilled != nil && *e.OOMKilled
	switch {
	case e.Error != "":
		return NewCause(CodeNotStarted, e.Phase, e.Error)
	case oom && (c == nil || ofDeath(c.Code)):
		return refined(c, e, CodeOOMKilled)
	case c == nil && e.killed():
		return refined(c, e, CodeKilled)
	case e.Code != nil && *e.Code == 2 && (e.Phase == PhaseProcess || e.Phase == "") && (c == nil || c.Code == CodeException):
		return refined(c, e, CodeArguments)
	case c != nil:
		return *c
	case e.Code != nil && (*e.Code == 126 || *e.Code == 127):
		return refined(c, e, CodeNotStarted)
	case e.Code != nil && *e.Code == 0:
		return refined(c, e, CodeExited)
	case e.Code != nil || e.Signal != "":
		return refined(c, e, CodeCrashed)
	}
	return refined(c, e, CodeUnknown)
}

// refined makes a cause of a code that keeps the line and the phase that were
// told.
func refined(c *Cause, e ExitInfo, code string) Cause {
	phase, told := e.Phase, e.Last
	if phase == "" {
		phase = PhaseProcess
	}
	if c != nil {
		phase, told = c.Phase, c.Line
	}
	return NewCause(code, phase, told)
}

// ofDeath reports whether a cause only tells that some process died or stopped
// answering: what a proven out-of-memory kill explains.
func ofDeath(code string) bool {
	switch code {
	case "child-killed", "child-died", "child-failed", "killed", "scheduler-crash", "nccl-timeout", "nccl-error",
		"warmup-failed", "health-failed", "watchdog", "slow-step", "kv-overrun", CodeException, CodeUnknown:
		return true
	}
	return false
}
