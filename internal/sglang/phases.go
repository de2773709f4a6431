package sglang

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRanks bounds how many ranks are told apart; more than any server has.
const maxRanks = 1024

// place orders the stages of a start. A speculative draft model is loaded
// after the target model through the same stages, so these come in rounds.
type place struct {
	round int
	order int
}

func (p place) before(q place) bool {
	return p.round < q.round || p.round == q.round && p.order < q.order
}

// lastRound is the round of the stages that come after every model is loaded.
const lastRound = 1 << 20

// order is the order of phases within a round.
func order(name PhaseName) int {
	for i, p := range []PhaseName{PhaseProcess, PhaseInit, PhaseWeights, PhaseKV, PhaseAutotune,
		PhaseGraphs, PhaseHTTP, PhaseWarmup, PhaseServing} {
		if p == name {
			return i
		}
	}
	return -1
}

// Before reports whether phase p comes before q in a start.
func (p PhaseName) Before(q PhaseName) bool { return order(p) < order(q) }

// timeline follows a start through its phases. A phase begins when the first
// rank enters it, so it goes on when the furthest rank does; only weights end
// with the last rank, since every rank waits for it there.
type timeline struct {
	list  []Phase
	at    place
	index map[place]int                // where a stage is in list
	begun map[string]int               // models whose weights a rank began to load
	ended map[string]int               // models whose weights it has loaded
	told  map[place]map[string]float64 // seconds that each rank stated for a stage
}

func newTimeline() timeline {
	return timeline{index: map[place]int{}, begun: map[string]int{}, ended: map[string]int{}, told: map[place]map[string]float64{}}
}

var (
	captureBegin = regexp.MustCompile(`(?i)^capture .{0,40}?cuda graph begin`)
	captureEnd   = regexp.MustCompile(`(?i)^capture .{0,40}?cuda graph end`)
	elapsed      = regexp.MustCompile(`(?i)elapsed[=:] ?(\d+(?:\.\d+)?)`)
)

// current is the phase that lasts.
func (t *timeline) current() PhaseName {
	if len(t.list) == 0 {
		return PhaseProcess
	}
	return t.list[len(t.list)-1].Name
}

// read takes what one line says about the phases.
func (t *timeline) read(l line) {
	switch s := l.text; {
	case strings.HasPrefix(s, "Init torch distributed begin"):
		t.enter(l.at, PhaseInit, 0)
	case strings.HasPrefix(s, "Init torch distributed end"):
		t.state(l, PhaseInit, 0)
	case strings.HasPrefix(s, "Load weight begin"):
		rank := t.rank(l)
		t.begun[rank]++
		t.enter(l.at, PhaseWeights, t.begun[rank])
	case strings.HasPrefix(s, "Load weight end"):
		rank := t.rank(l)
		t.ended[rank]++
		t.state(l, PhaseWeights, t.ended[rank])
		if t.loaded(t.ended[rank]) {
			t.enter(l.at, PhaseKV, t.ended[rank])
		}
	case strings.HasPrefix(s, "KV Cache is allocated"), strings.HasPrefix(s, "Memory pool end"):
		t.enter(l.at, PhaseKV, t.round(l))
	case strings.HasPrefix(s, "Running FlashInfer autotune"):
		t.enter(l.at, PhaseAutotune, t.round(l))
	case captureBegin.MatchString(s):
		t.enter(l.at, PhaseGraphs, t.round(l))
	case captureEnd.MatchString(s):
		t.state(l, PhaseGraphs, t.round(l))
	case strings.HasPrefix(s, "max_total_num_tokens="),
		strings.Contains(s, "Started server process"), strings.Contains(s, "Waiting for application startup"):
		t.enter(l.at, PhaseHTTP, lastRound)
	case strings.Contains(s, "Uvicorn running on "):
		t.enter(l.at, PhaseWarmup, lastRound)
	case strings.Contains(s, firedUp):
		t.enter(l.at, PhaseServing, lastRound)
	}
}

// rank is the key under which a line's rank is counted.
func (t *timeline) rank(l line) string {
	if _, known := t.begun[l.rank]; !known && len(t.begun) >= maxRanks {
		return ""
	}
	return l.rank
}

// round is the model that the rank of a line works on, from 1.
func (t *timeline) round(l line) int { return max(1, t.begun[t.rank(l)]) }

// loaded reports whether every rank that began to load this model has it.
func (t *timeline) loaded(round int) bool {
	for rank, n := range t.begun {
		if n >= round && t.ended[rank] < round {
			return false
		}
	}
	return true
}

// enter begins a stage, unless a rank was there or further before.
func (t *timeline) enter(at time.Time, name PhaseName, round int) {
	p := place{round, order(name)}
	if len(t.list) > 0 && !t.at.before(p) {
		return
	}
	if n := len(t.list); n > 0 {
		t.list[n-1].Seconds = new(at.Sub(t.list[n-1].Started).Seconds())
	}
	t.at, t.index[p] = p, len(t.list)
	t.list = append(t.list, Phase{Name: name, Started: at})
}

// state takes the duration that a rank states for a stage. A rank may capture
// several sets of graphs: they add up. Ranks work side by side: the slowest
// counts.
func (t *timeline) state(l line, name PhaseName, round int) {
	p := place{round, order(name)}
	i, ok := t.index[p]
	m := elapsed.FindStringSubmatch(l.text)
	if !ok || m == nil {
		return
	}
	seconds, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return
	}
	if t.told[p] == nil {
		t.told[p] = map[string]float64{}
	}
	rank := t.rank(l)
	t.told[p][rank] += seconds
	if old := t.list[i].Stated; old == nil || t.told[p][rank] > *old {
		t.list[i].Stated = new(t.told[p][rank])
	}
}
