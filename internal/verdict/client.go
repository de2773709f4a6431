package verdict

import (
	"fmt"
	"strings"
	"time"

	"sweep/internal/bench"
)

// clientSlots fires when the client did not keep up the load that was asked
// for; a capped connection pool looks like a plateau of the server.
func clientSlots(x measured, l Limits) *sight {
	filled := x.m.Client.SlotShare
	if filled == nil || x.m.Level.Mode == bench.Burst || *filled >= l.SlotShare {
		return nil
	}
	return &sight{Suspect, fmt.Sprintf("the client kept %s of its %d slots filled", percent(*filled), x.m.Level.Concurrency),
		"at least " + percent(l.SlotShare)}
}

// clientBound fires when the client's own CPU may have been what was measured.
func clientBound(x measured, l Limits) *sight {
	cpu := x.m.Client.CPUShare
	if cpu == nil || *cpu < l.ClientCPU {
		return nil
	}
	return &sight{Suspect, fmt.Sprintf("the client used %s of the cores it may use", percent(*cpu)), "below " + percent(l.ClientCPU)}
}

// cold fires when the server's log tells of kernels compiled or tuned, or of
// graphs captured, while the level was measured: it ran slower than it will.
// The log is read every two seconds, so the last lines may be a little late.
func cold(x measured, _ Limits) *sight {
	const late = 2 * time.Second
	if x.record == nil {
		return nil
	}
	end := x.m.Started.Add(time.Duration(x.m.Window*float64(time.Second)) + late)
	n, first := 0, ""
	for _, c := range x.record.Compiles {
		if !c.At.Before(x.m.Started) && !c.At.After(end) {
			if n++; n == 1 {
				first = c.Line
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &sight{Suspect, fmt.Sprintf("%d lines of compiling, tuning or capture inside the window, first: %.120s", n, first), "none inside the window"}
}

// flushFailed fires when the prefix cache could not be emptied before the
// level. Not knowing, and a cache that is off, are no failures.
func flushFailed(x measured, _ Limits) *sight {
	f := x.m.Flush
	if f == "" || f == "flushed" || strings.HasPrefix(f, "skipped") {
		return nil
	}
	return &sight{Note, fmt.Sprintf("the cache was not flushed before the level: %.200s", f), "flushed"}
}
