package bench

import "time"

// times says when bytes came: by the kernel's stamp where it can be right. The
// stamp is of the wall clock, so it is only used as a distance to now, and not
// where that clock was set meanwhile: bytes come neither in the future nor before
// what came earlier on the same connection.
func (e *eventLoop) times(s *slot, received time.Duration) (at time.Duration, late lag) {
	const disorder = time.Millisecond
	now := time.Now()
	at = now.Sub(e.base)
	if received == 0 {
		return at, unstamped
	}
	ago := time.Duration(now.UnixNano()) - received
	earliest := max(s.x.sent, s.x.lastByte)
	if ago < 0 || at-ago < earliest-disorder {
		return at, unstamped
	}
	return max(at-ago, earliest), lag(min(ago, time.Duration(unstamped-1)))
}
