package report

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/matrix"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Selection says that a table shows some of the configurations, and which ones
// it does not show.
type Selection struct {
	Only    []string `json:"only"` // the patterns that chose them
	Shown   int      `json:"shown"`
	Of      int      `json:"of"`
	LeftOut []string `json:"left_out"` // names of configurations
}

// namedLeftOut bounds how many configurations a line names as left out.
const namedLeftOut = 8

// String is the selection as one sentence without a full stop.
func (s Selection) String() string {
	quoted := make([]string, len(s.Only))
	for i, text := range s.Only {
		quoted[i] = "--only " + text
	}
	by := strings.Join(quoted, " ")
	if len(s.LeftOut) == 0 {
		return fmt.Sprintf("all %d configurations: %s leaves none out", s.Of, by)
	}
	names, more := s.LeftOut, ""
	if rest := len(names) - namedLeftOut; rest > 0 {
		names, more = names[:namedLeftOut], fmt.Sprintf(" · %d more", rest)
	}
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = spaced(name)
	}
	return fmt.Sprintf("%d of %d configurations, by %s; left out: %s%s", s.Shown, s.Of, by, strings.Join(names, " · "), more)
}

// Narrow is the input with only the configurations that the patterns name, as
// --only of a plan does; without patterns it is the input itself. Verdicts stay
// those of the whole night. A baseline that is left out has no row, and is still
// what the others are compared with; where it has no figure nothing is. The error
// is matrix.Problems.
func (in Input) Narrow(only []string) (Input, error) {
	if len(only) == 0 {
		return in, nil
	}
	configs := make([]sweep.Configuration, len(in.Subjects))
	for i, s := range in.Subjects {
		configs[i] = s.Config
	}
	chosen, selection, err := choose(configs, only)
	if err != nil {
		return Input{}, err
	}
	in.Selection = selection
	place := make([]int, len(in.Subjects)) // where a subject is now; -1: left out
	var subjects []Subject
	baseline := -1
	for _, s := range in.Subjects {
		baseline = max(baseline, s.Against)
	}
	hidden := baseline >= 0 && !chosen[baseline] && measuredAny(in.Subjects[baseline])
	for i, s := range in.Subjects {
		place[i] = -1
		if hidden && i == baseline {
			s.Hidden = true
		}
		if chosen[i] || s.Hidden {
			place[i] = len(subjects)
			subjects = append(subjects, s)
		}
	}
	for i := range subjects {
		if s := &subjects[i]; s.Against >= 0 {
			s.Against = place[s.Against]
		}
	}
	in.Subjects = subjects
	in.Warnings = slices.Clone(in.Warnings)
	switch {
	case hidden:
		in.Warnings = append(in.Warnings, "--only leaves the baseline out: it has no row, and each Δ is still to it")
	case baseline >= 0 && !chosen[baseline]:
		in.Warnings = append(in.Warnings, "no baseline chosen: --only leaves it out and it was not measured, so there is no Δ")
	}
	var notRun []Missing
	for _, m := range in.NotRun {
		if m.Subject = place[m.Subject]; m.Subject >= 0 && !subjects[m.Subject].Hidden {
			notRun = append(notRun, m)
		}
	}
	in.NotRun = notRun
	shown := map[string]bool{}
	for _, s := range subjects {
		for _, run := range s.Runs {
			shown[run.Name] = true
		}
	}
	in.Findings = slices.DeleteFunc(slices.Clone(in.Findings), func(f verdict.Finding) bool { return !shown[f.Run] })
	return in, nil
}

// measuredAny tells whether a subject has a figure at any level.
func measuredAny(s Subject) bool {
	return slices.ContainsFunc(s.Runs, func(r sweep.Run) bool { return len(r.Measurements) > 0 })
}

// NarrowSides keeps of each side the runs of the configurations that the
// patterns name; nil and the sides as they are without patterns. A side of
// which nothing is left is an error, as is a pattern that names nothing.
func NarrowSides(sides []Side, only []string) ([]Side, *Selection, error) {
	if len(only) == 0 {
		return sides, nil, nil
	}
	var all []sweep.Run
	for _, side := range sides {
		all = append(all, side.Runs...)
	}
	subjects := subjectsOf(all, "")
	configs := make([]sweep.Configuration, len(subjects))
	for i, s := range subjects {
		configs[i] = s.Config
	}
	chosen, selection, err := choose(configs, only)
	if err != nil {
		return nil, nil, err
	}
	keep := map[string]bool{}
	for i, c := range configs {
		keep[c.ID] = chosen[i]
	}
	narrowed := make([]Side, len(sides))
	for i, side := range sides {
		narrowed[i].Name = side.Name
		for _, run := range side.Runs {
			if keep[run.ID] {
				narrowed[i].Runs = append(narrowed[i].Runs, run)
			}
		}
		if narrowed[i].Runs == nil {
			return nil, nil, matrix.Problems{{Message: fmt.Sprintf("--only %s leaves nothing of %s", strings.Join(only, " --only "), side.Name),
				Hint: "name what all sides have, or leave that side away"}}
		}
	}
	return narrowed, selection, nil
}

// choose tells which configurations the patterns name.
func choose(configs []sweep.Configuration, only []string) ([]bool, *Selection, error) {
	named := make([]matrix.Named, len(configs))
	for i, c := range configs {
		named[i] = matrix.Named{Name: c.Name, Labels: c.Labels, Baseline: c.Baseline}
	}
	chosen, err := matrix.Select(named, only)
	if err != nil {
		return nil, nil, err
	}
	s := &Selection{Only: only, Of: len(configs)}
	for i, c := range configs {
		if chosen[i] {
			s.Shown++
		} else {
			s.LeftOut = append(s.LeftOut, c.Name)
		}
	}
	return chosen, s, nil
}
