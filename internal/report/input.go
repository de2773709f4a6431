package report

import (
	"cmp"
	"slices"

	"sweep/internal/bench"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Input is what a report is made of. ForNight and ForRuns make it.
type Input struct {
	Title    string
	Night    string // its name, when it is one night
	Sides    []string
	Subjects []Subject // in the order of the plan
	Levels   []bench.Level
	Goals    []sweep.Goal // what the file asks for
	Findings []verdict.Finding
	NotRun   []Missing
	Warnings []string // what could not be read, and the like

	Selection *Selection // nil: everything is shown
}

// Subject is one configuration on one side of a comparison, and its runs.
type Subject struct {
	Config  sweep.Configuration
	Side    string // "A"; empty in one night
	Runs    []sweep.Run
	Planned int  // repeats; 0: not known
	Against int  // index of the subject to compare with: its own for the baseline, -1 for none
	Hidden  bool // only compared with: it has no row of its own
}

// Missing is a planned run, or a level of one, without a measurement.
type Missing struct {
	Subject int // index in Input.Subjects
	Repeat  int
	Level   string // empty: the whole run
	Reason  string
	Planned bool // it was left out on purpose: nothing went wrong
}

// ForNight reports one night: id is its name, the plan says what should be
// there, runs what is, by ordinal, and reasons why a planned run is not.
func ForNight(id string, plan *sweep.Plan, runs map[int]sweep.Run, reasons map[int]string, findings []verdict.Finding) Input {
	in := Input{Title: "night " + id + ", sweep " + plan.Name, Night: id, Levels: plan.Levels, Goals: plan.Goals, Findings: findings}
	index := map[string]int{}
	baseline := -1
	for i, c := range plan.Configurations {
		index[c.ID] = i
		if c.Baseline && baseline < 0 {
			baseline = i
		}
		in.Subjects = append(in.Subjects, Subject{Config: c})
	}
	for i := range in.Subjects {
		in.Subjects[i].Against = baseline
	}
	for _, p := range plan.Runs {
		i, ok := index[p.Config]
		if !ok {
			continue // a plan cannot hold one; an edited file might
		}
		s := &in.Subjects[i]
		s.Planned++
		for _, skipped := range p.Skip {
			in.NotRun = append(in.NotRun, Missing{Subject: i, Repeat: p.Repeat, Level: skipped.Name, Reason: leftOut + skipped.Why, Planned: true})
		}
		run, ok := runs[p.Ordinal]
		if !ok {
			in.NotRun = append(in.NotRun, Missing{Subject: i, Repeat: p.Repeat, Reason: cmp.Or(reasons[p.Ordinal], "the night ended before it was reached")})
			continue
		}
		s.Runs = append(s.Runs, run)
		in.NotRun = append(in.NotRun, missingLevels(i, p.Repeat, plan.LevelsOf(p), run)...)
	}
	return in
}

func missingLevels(subject, repeat int, levels []bench.Level, run sweep.Run) []Missing {
	var missing []Missing
	for _, l := range levels {
		if !slices.ContainsFunc(run.Measurements, func(m bench.Measurement) bool { return m.Key == l.Key() }) {
			missing = append(missing, Missing{Subject: subject, Repeat: repeat, Level: l.String(), Reason: whyNot(run, l.Key())})
		}
	}
	same := !slices.ContainsFunc(missing, func(m Missing) bool { return m.Reason != missing[0].Reason })
	if len(missing) == len(levels) && len(levels) > 0 && same {
		return []Missing{{Subject: subject, Repeat: repeat, Reason: missing[0].Reason}}
	}
	return missing
}

// Reasons that are told apart by more than their words.
const (
	leftOut    = "left out on purpose: "
	unmeasured = "could not be measured, see Failures"
)

// whyNot says why a run has no measurement of a level; key may be empty.
func whyNot(run sweep.Run, key string) string {
	if len(run.Records) == 0 {
		return "its record cannot be read"
	}
	last := run.Records[len(run.Records)-1]
	switch {
	case interrupted(last):
		return "the run was interrupted"
	case last.Failure != nil:
		return "the server failed: " + cmp.Or(last.Failure.Cause.Code, "unknown")
	case last.Status == sweep.StatusRunning:
		return "the run is not over, or its runner died"
	case couldNot(last, key):
		return unmeasured
	default:
		return "it was not measured"
	}
}

// couldNot tells whether the bench could not measure a level of an attempt
// though the server served.
func couldNot(r sweep.Record, key string) bool {
	return slices.ContainsFunc(r.Unmeasured, func(u sweep.Unmeasured) bool { return u.Key == key })
}
