package bench

import (
	"context"
	"fmt"
	"time"
)

// watch keeps the clock of max-level, its grace and the stall budget. Max-level
// is about issuing: once every request is under way, as in a burst or at the end
// of a closed loop, it cuts nothing, and the stall budget alone bounds the rest.
func (l *loop) watch(ctx context.Context, stop context.CancelCauseFunc, ended <-chan struct{}) {
	tick := time.NewTicker(max(min(500*time.Millisecond, l.stall/4), time.Millisecond))
	defer tick.Stop()
	limit := time.NewTimer(l.maxLevel)
	defer limit.Stop()
	if l.maxLevel <= 0 {
		limit.Stop()
	}
	var grace, said time.Duration
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-limit.C:
			if l.given.Load() == int64(l.total) {
				continue
			}
			if l.closing.Swap(true) {
				if silent := l.clock() - time.Duration(l.last.Load()); silent >= grace {
					stop(stopped{Stalled, fmt.Sprintf("stalled: no token on any stream for %s", silent.Round(time.Second))})
					return
				}
				stop(stopped{AtMaxLevel, fmt.Sprintf("cut short: still running %s after max-level", grace.Round(time.Millisecond))})
				return
			}
			l.halt()
			_, longest := l.counts()
			grace = max(l.grace, longest*3/2)
			limit.Reset(grace)
		case <-tick.C:
			now := l.clock()
			inFlight := l.given.Load() > l.over.Load()
			if inFlight && now-time.Duration(l.last.Load()) > l.stall {
				stop(stopped{Stalled, fmt.Sprintf("stalled: no token on any stream for %s", l.stall)})
				return
			}
			if now-said >= 500*time.Millisecond {
				said = now
				done, _ := l.counts()
				l.progress(done)
			}
		}
	}
}
