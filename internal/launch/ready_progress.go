package launch

import (
	"time"

	"sweep/internal/sglang"
)

// Progress is where a start stands.
type Progress struct {
	Phase    sglang.PhaseName
	Fraction *float64      // of the phase, 0 to 1; null where the log does not tell
	Elapsed  time.Duration // since the start
	Last     string        // last line of the log, safe to show
}

// reporter passes on progress that is news.
type reporter struct {
	to   func(Progress)
	last Progress
	told bool
}

func (r *reporter) say(s *Server) {
	if r.to == nil {
		return
	}
	p := Progress{Elapsed: time.Since(s.started), Last: s.log.Last()}
	p.Phase, p.Fraction = s.log.Current()
	if r.told && p.Phase == r.last.Phase && equal(p.Fraction, r.last.Fraction) {
		return
	}
	r.last, r.told = p, true
	r.to(p)
}

func equal(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
