package verdict

import (
	"fmt"
	"strings"

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

// flushFailed fires when the prefix cache could not be emptied before the
// level. Not knowing, and a cache that is off, are no failures.
func flushFailed(x measured, _ Limits) *sight {
	f := x.m.Flush
	if f == "" || f == "flushed" || strings.HasPrefix(f, "skipped") {
		return nil
	}
	return &sight{Note, fmt.Sprintf("the cache was not flushed before the level: %.200s", f), "flushed"}
}
