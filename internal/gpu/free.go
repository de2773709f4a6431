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
// come back. A host without readable GPUs has nothing to wait for: the note
// says why.
func WaitFree(ctx context.Context, c Commander, every time.Duration) (busy []string, note string) {
	for {
		s := Look(ctx, c)
		if ctx.Err() != nil && len(s.GPUs) == 0 {
			return busy, s.Note
		}
		if busy = s.Busy(); len(busy) == 0 {
			return nil, s.Note
		}
		select {
		case <-ctx.Done():
			return busy, ""
		case <-time.After(every):
		}
	}
}
