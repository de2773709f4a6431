package sweep

import (
	"slices"
	"time"

	"sweep/internal/bench"
)

// Times are what was recorded of one configuration.
type Times struct {
	Start  time.Duration            // to the first answer; 0: not recorded
	Levels map[string]time.Duration // by level key, warm-up not included
	Cut    map[string]time.Duration // the max-level that ended a level, by level key
}

// Estimate says how long a plan takes, and on what that rests.
type Estimate struct {
	Starts int           // of a server: every run has one
	Start  time.Duration // all starts
	Levels time.Duration // all levels
	Rest   time.Duration // stops and cool-downs
	Total  time.Duration

	Runs  []time.Duration // of the total, by place in Plan.Runs
	There time.Duration   // what EstimateLeft left out of the total, since it is there already

	RecordedStarts int // starts whose time was recorded, of this configuration or another
	Measurements   int // levels of all runs
	Recorded       int // of them, those whose time was recorded
	Skipped        int // levels that runs leave out above their cap
	Saved          time.Duration

	Cut []CutLevel // levels that max-level is expected to end early, in the plan's order

	Assume Assumptions
}

// CutLevel is a level that is still issuing requests when max-level comes. One
// that has issued all, as a burst has from the start, is never cut.
type CutLevel struct {
	Level  bench.Level
	Whole  time.Duration // what all its prompts would take, in the slowest configuration; where it was recorded as cut, what it took
	Config string        // ID of that configuration
	Runs   int           // in how many runs
	Alike  bool          // the same is expected of all these runs
}

// add counts a run of which the level is cut.
func (c *CutLevel) add(l bench.Level, config string, whole time.Duration) {
	c.Level = l
	c.Alike = c.Runs == 0 || c.Alike && whole == c.Whole
	c.Runs++
	if whole > c.Whole {
		c.Whole, c.Config = whole, config
	}
}

// Recordings tells whether all of an estimate but the stops rests on records.
func (e Estimate) Recordings() bool {
	return e.RecordedStarts == e.Starts && e.Recorded == e.Measurements
}

// Estimate adds up a whole plan. Times come from records where there are any: of the
// configuration itself, else for a start the median of the others; else from
// assumptions. known is by configuration ID and may be nil.
func (p *Plan) Estimate(assume Assumptions, known map[string]Times) Estimate {
	return p.EstimateLeft(assume, known, nil)
}

// EstimateLeft adds up what is left of a plan of which some is there already:
// missing are the keys of the levels to measure, by place in Plan.Runs; nil is
// every level of every run. A run without a missing level is not started.
func (p *Plan) EstimateLeft(assume Assumptions, known map[string]Times, missing [][]string) Estimate {
	e := Estimate{Assume: assume, Runs: make([]time.Duration, len(p.Runs))}
	var starts []time.Duration
	for _, t := range known {
		if t.Start > 0 {
			starts = append(starts, t.Start)
		}
	}
	usual, recorded := assume.Start, 0
	if len(starts) > 0 {
		slices.Sort(starts)
		usual, recorded = starts[len(starts)/2], 1
	}
	type asked struct{ level, most int }
	type guessed struct{ took, whole time.Duration }
	guesses := map[asked]guessed{} // thousands of runs share a handful of answers
	guess := func(i int, l bench.Level, most int) guessed {
		g, ok := guesses[asked{i, most}]
		if !ok {
			g.took, g.whole = assume.level(l, most, p.MaxLevel)
			guesses[asked{i, most}] = g
		}
		return g
	}
	cut := make([]CutLevel, len(p.Levels))
	keys := make([]string, len(p.Levels))
	for i, l := range p.Levels {
		keys[i] = l.Key()
	}
	caps := make(map[string]int, len(p.Configurations))
	for i := range p.Configurations {
		if most, ok := p.Configurations[i].requestCap(); ok {
			caps[p.Configurations[i].ID] = most
		}
	}
	around := assume.Stop + p.Night.Cooldown
	for at, r := range p.Runs {
		t := known[r.Config]
		start, startRecorded := usual, recorded
		if t.Start > 0 {
			start, startRecorded = t.Start, 1
		}
		if missing == nil || len(missing[at]) > 0 {
			e.Starts++
			e.Start += start
			e.RecordedStarts += startRecorded
			e.Rest += around
			e.Runs[at] = start + around
		} else {
			e.There += start + around
		}
		for i, l := range p.Levels {
			took, recorded := t.Levels[keys[i]]
			whole := took
			if !recorded {
				g := guess(i, l, caps[r.Config])
				took, whole = g.took, g.whole
			}
			if slices.ContainsFunc(r.Skip, func(s Skipped) bool { return s.Key == keys[i] }) {
				e.Skipped++
				e.Saved += took
				continue
			}
			if missing != nil && !slices.Contains(missing[at], keys[i]) {
				e.There += took
				continue
			}
			e.Measurements++
			e.Levels += took
			e.Runs[at] += took
			if recorded {
				e.Recorded++
			}
			if p.MaxLevel > 0 && (issuing(l, whole) > p.MaxLevel || recorded && t.Cut[keys[i]] == p.MaxLevel) {
				cut[i].add(l, r.Config, whole)
			}
		}
	}
	e.Total = e.Start + e.Levels + e.Rest
	e.Cut = slices.DeleteFunc(cut, func(c CutLevel) bool { return c.Runs == 0 })
	return e
}

// Through is how long the runs up to the end of a repeat take.
func (e Estimate) Through(p *Plan, repeat int) time.Duration {
	var sum time.Duration
	for i, r := range p.Runs {
		if r.Repeat <= repeat {
			sum += e.Runs[i]
		}
	}
	return sum
}

// TimesOf gathers what runs recorded: the median start of each configuration
// and the median time of each of its levels.
func TimesOf(runs []Run) map[string]Times {
	starts := map[string][]time.Duration{}
	levels := map[string]map[string][]time.Duration{}
	cut := map[string]map[string]time.Duration{}
	for _, run := range runs {
		for _, r := range run.Records {
			if r.ReadySeconds != nil && *r.ReadySeconds > 0 {
				starts[run.ID] = append(starts[run.ID], time.Duration(*r.ReadySeconds*float64(time.Second)))
			}
		}
		for _, m := range run.Measurements {
			if m.Window <= 0 || !m.Usable() {
				continue
			}
			if levels[run.ID] == nil {
				levels[run.ID] = map[string][]time.Duration{}
			}
			if m.Ended == bench.AtMaxLevel {
				if cut[run.ID] == nil {
					cut[run.ID] = map[string]time.Duration{}
				}
				cut[run.ID][m.Key] = m.MaxLevel
			}
			levels[run.ID][m.Key] = append(levels[run.ID][m.Key], time.Duration(m.Window*float64(time.Second)))
		}
	}
	known := map[string]Times{}
	for id, all := range starts {
		known[id] = Times{Start: median(all)}
	}
	for id, byKey := range levels {
		t := known[id]
		t.Cut = cut[id]
		t.Levels = make(map[string]time.Duration, len(byKey))
		for key, all := range byKey {
			t.Levels[key] = median(all)
		}
		known[id] = t
	}
	return known
}

// median is the upper one of an even number: an estimate errs on the long side.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
