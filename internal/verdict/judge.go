package verdict

import (
	"sweep/internal/bench"
	"sweep/internal/sweep"
)

// codeInert is of the one rule that looks at all runs together.
const codeInert = "inert"

// Judge puts every rule to every measurement of the runs. The findings come in
// the order of the runs, of their levels, and of the table of rules.
func Judge(runs []sweep.Run, l Limits) []Finding {
	l = l.orDefaults()
	var findings []Finding
	same := inert(runs)
	for i, run := range runs {
		for _, rule := range runRules {
			if s := rule.look(run, l); s != nil {
				findings = append(findings, s.finding(rule.code, run.Name, ""))
			}
		}
		if s := same[i]; s != nil {
			findings = append(findings, s.finding(codeInert, run.Name, ""))
		}
		for _, m := range run.Measurements {
			for _, rule := range levelRules {
				if s := rule.look(measured{run, m, recordOf(run, m.Attempt)}, l); s != nil {
					findings = append(findings, s.finding(rule.code, run.Name, m.Key))
				}
			}
		}
	}
	return findings
}

// Of is the verdict on one level of a run: the worst of its own findings and
// those of the whole run. With an empty key it is the worst of all that was
// found in the run.
func Of(findings []Finding, run, key string) Verdict {
	v := Valid
	for _, f := range findings {
		if f.Run != run || key != "" && f.Key != "" && f.Key != key {
			continue
		}
		switch f.Grade {
		case Invalid:
			return IsInvalid
		case Suspect:
			v = IsSuspect
		}
	}
	return v
}

// runRule looks at a run as a whole, levelRule at one level of it. Both return
// nil when they have nothing to say, which includes that the figures they need
// are unknown.
type (
	runRule struct {
		code string
		look func(sweep.Run, Limits) *sight
	}
	levelRule struct {
		code string
		look func(measured, Limits) *sight
	}
)

// sight is what a rule saw.
type sight struct {
	grade       Grade
	seen, limit string
}

func (s sight) finding(code, run, key string) Finding {
	return Finding{Code: code, Grade: s.grade, Run: run, Key: key, Seen: s.seen, Limit: s.limit}
}

// measured is one level with what it belongs to.
type measured struct {
	run    sweep.Run
	m      bench.Measurement
	record *sweep.Record // of the attempt that measured it; null when it could not be read
}

func recordOf(run sweep.Run, attempt int) *sweep.Record {
	for i := range run.Records {
		if run.Records[i].Attempt == attempt {
			return &run.Records[i]
		}
	}
	return nil
}

// runRules and levelRules are the tables: a new rule is a function and a line.
var (
	runRules = []runRule{
		{"simulated", simulated},
		{"not-identified", notIdentified},
	}
	levelRules = []levelRule{
		{"server-died", serverDied},
		{"stalled", stalled},
		{"interrupted", interrupted},
		{"max-level", maxLevel},
		{"requests-failed", requestsFailed},
		{"error-in-stream", errorInStream},
		{"tokens-short", tokensShort},
		{"input-mismatch", inputMismatch},
		{"cache-hit", cacheHit},
		{"arithmetic", arithmetic},
		{"client-slots", clientSlots},
		{"client-bound", clientBound},
		{"cold", cold},
		{"flush-failed", flushFailed},
	}
)

func (l Limits) orDefaults() Limits {
	for _, d := range []struct {
		limit *float64
		value float64
	}{
		{&l.FailedShare, 0.01},
		{&l.ShortShare, 0.01},
		{&l.Arithmetic, 0.01},
		{&l.CachedShare, 0.01},
		{&l.SlotShare, 0.95},
		{&l.ClientCPU, 0.90},
	} {
		if *d.limit == 0 {
			*d.limit = d.value
		}
	}
	return l
}
