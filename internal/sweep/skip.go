package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"sweep/internal/bench"
	"sweep/internal/matrix"
)

// What to do with levels above a configuration's max-running-requests: there
// more requests only make a longer queue.
const (
	CapOnce = "once" // of each workload, only the lowest that is above runs
	CapAll  = "all"
	CapSkip = "skip"
)

// Skipped is a level that a run leaves out, and why.
type Skipped struct {
	Key  string `json:"key"`  // bench.Level.Key
	Name string `json:"name"` // bench.Level.String
	Why  string `json:"why"`
}

// LevelsOf are the levels that a run measures, in order: those of the plan but
// for what it skips.
func (p *Plan) LevelsOf(r PlannedRun) []bench.Level {
	if len(r.Skip) == 0 {
		return p.Levels
	}
	levels := make([]bench.Level, 0, len(p.Levels))
	for _, l := range p.Levels {
		key := l.Key()
		if !slices.ContainsFunc(r.Skip, func(s Skipped) bool { return s.Key == key }) {
			levels = append(levels, l)
		}
	}
	return levels
}

// skip decides for each run which levels are above its cap. Configurations of
// one cap share the answer.
func (p *Plan) skip(policy string) {
	if policy == CapAll {
		return
	}
	byCap := map[int][]Skipped{}
	byConfig := make(map[string][]Skipped, len(p.Configurations))
	for i := range p.Configurations {
		c := &p.Configurations[i]
		most, known := c.requestCap()
		if !known {
			continue
		}
		skipped, done := byCap[most]
		if !done {
			skipped = above(p.Levels, most, policy)
			byCap[most] = skipped
		}
		if len(skipped) > 0 {
			byConfig[c.ID] = skipped
		}
	}
	if len(byConfig) == 0 {
		return
	}
	for i := range p.Runs {
		p.Runs[i].Skip = byConfig[p.Runs[i].Config]
	}
}

// requestCap is how many requests a configuration runs at once; false when the
// flags do not say. Each data-parallel rank of sglang has its own cap, so that
// the product is the most there can be.
func (c *Configuration) requestCap() (int, bool) {
	most, known := c.wholeFlag("max-running-requests")
	if !known || most < 1 {
		return 0, false
	}
	if ranks, ok := c.wholeFlag("dp-size"); ok && ranks > 1 && most <= math.MaxInt/ranks {
		most *= ranks
	}
	return most, true
}

func (c *Configuration) wholeFlag(name string) (int, bool) {
	for _, f := range c.Flags {
		if f.Name == name && f.Value.Kind == matrix.Word {
			n, err := strconv.Atoi(f.Value.Words[0])
			return n, err == nil
		}
	}
	return 0, false
}

// above are the levels that a cap leaves out. The lowest above it is found for
// each workload; a closed loop and a burst of that size both run.
func above(levels []bench.Level, most int, policy string) []Skipped {
	lowest := map[bench.Workload]bench.Level{}
	if policy == CapOnce {
		for _, l := range levels {
			if low, seen := lowest[l.Workload]; l.Concurrency > most && (!seen || l.Concurrency < low.Concurrency) {
				lowest[l.Workload] = l
			}
		}
	}
	var out []Skipped
	for _, l := range levels {
		low, seen := lowest[l.Workload]
		if l.Mode == bench.Open || l.Concurrency <= most || (seen && l.Concurrency == low.Concurrency) {
			continue
		}
		why := fmt.Sprintf("above the cap of %d running requests", most)
		if seen {
			why += fmt.Sprintf("; %s stands for it", low)
		}
		out = append(out, Skipped{Key: l.Key(), Name: l.String(), Why: why})
	}
	return out
}
