package launch

import (
	"testing"
	"time"

	"sweep/internal/sglang"
)

func TestA08PhasesHaveBudgetsOfTheirOwn(t *testing.T) {
	start := time.Unix(0, 0)
	in := func(name sglang.PhaseName) []sglang.Phase { return []sglang.Phase{{Name: name, Started: start}} }
	usual := Budget{}.orDefault()
	generous := Budget{Timeout: 2 * DefaultReadyTimeout}.orDefault()
	done := 1.0
	for _, c := range []struct {
		name   string
		budget Budget
		phases []sglang.Phase
		after  time.Duration
		want   bool
	}{
		{"nothing yet", usual, nil, time.Hour, false},
		{"A17 collectives hang", usual, in(sglang.PhaseInit), 11 * time.Minute, true},
		{"collectives take a while", usual, in(sglang.PhaseInit), 9 * time.Minute, false},
		{"a larger cap gives more", generous, in(sglang.PhaseInit), 19 * time.Minute, false},
		{"but not for ever", generous, in(sglang.PhaseInit), 21 * time.Minute, true},
		{"graphs may take what the cap gives", usual, in(sglang.PhaseGraphs), 44 * time.Minute, false},
		{"weights too", usual, in(sglang.PhaseWeights), 44 * time.Minute, false},
		{"a phase that is over", usual, []sglang.Phase{{Name: sglang.PhaseHTTP, Started: start, Seconds: &done}}, time.Hour, false},
	} {
		if got := c.budget.overdue(c.phases, start.Add(c.after)); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
