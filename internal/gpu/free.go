package gpu

import (
	"context"
	"fmt"
	"time"
)

// FloorMiB is how much memory a card may hold and still count as free: the
// driver and a display keep a few hundred MiB.
const FloorMiB = 1024

// Busy says, a sentence a card, which cards hold more than FloorMiB and by
// whom. A card whose memory cannot be read is not called busy.
func (s Snapshot) Busy() []string {
	var busy []string
	for _, g := range s.GPUs {
		if g.MemoryUsed == nil || *g.MemoryUsed <= FloorMiB {
			continue
		}
		holder := "holder unknown"
		for _, p := range s.Processes {
			if p.GPU == g.UUID {
				holder = fmt.Sprintf("pid %d %s", p.PID, p.Name)
				break
			}
		}
		busy = append(busy, fmt.Sprintf("GPU %d holds %d MiB (%s)", g.Index, *g.MemoryUsed, holder))
	}
	return busy
}

// WaitFree looks until no card is busy, or returns who holds what when the
// deadline of ctx comes. Memory of a killed server can take tens of seconds to
// come back. A host whose GPUs cannot be read has nothing to wait for: the last
// snapshot says why it has none, and "not known" is not "free".
func WaitFree(ctx context.Context, c Commander, every time.Duration) (busy []string, last Snapshot) {
	for {
		s := Look(ctx, c)
		if ctx.Err() != nil && len(s.GPUs) == 0 && len(busy) > 0 {
			return busy, last // the last look was cut off
		}
		last = s
		if busy = s.Busy(); len(busy) == 0 {
			return nil, last
		}
		select {
		case <-ctx.Done():
			return busy, last
		case <-time.After(every):
		}
	}
}
