package report

import (
	"fmt"
	"slices"

	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Side is one thing to compare: a night, a configuration, a run.
type Side struct {
	Name string
	Runs []sweep.Run
}

// ForRuns reports runs without a plan. With several sides the first is what
// the others are compared with, configuration by configuration: by ID, else by
// name, else, where both sides have only one, those two.
func ForRuns(title string, sides []Side, findings []verdict.Finding) Input {
	in := Input{Title: title, Findings: findings}
	first := 0 // subjects of the first side
	for i, side := range sides {
		letter := ""
		if len(sides) > 1 {
			letter = string(rune('A' + i%26))
			in.Sides = append(in.Sides, letter+": "+side.Name)
		}
		subjects := subjectsOf(side.Runs, letter)
		in.Subjects = append(in.Subjects, subjects...)
		if i == 0 {
			first = len(subjects)
			continue
		}
		alone := first == 1 && len(subjects) == 1
		for j := len(in.Subjects) - len(subjects); j < len(in.Subjects); j++ {
			s := &in.Subjects[j]
			s.Against = counterpart(in.Subjects[:first], s.Config, alone)
			if s.Against < 0 {
				in.Warnings = append(in.Warnings, fmt.Sprintf("%s: %s has no counterpart on side A: no Δ", letter, s.Config.Name))
			}
		}
	}
	baseline := slices.IndexFunc(in.Subjects[:first], func(s Subject) bool { return s.Config.Baseline })
	for j := range first {
		switch {
		case len(sides) > 1:
			in.Subjects[j].Against = j
		case first > 1:
			in.Subjects[j].Against = baseline
		}
	}
	return in
}

// subjectsOf sorts runs by configuration, in order of first appearance.
func subjectsOf(runs []sweep.Run, side string) []Subject {
	var subjects []Subject
	for _, run := range runs {
		i := slices.IndexFunc(subjects, func(s Subject) bool { return s.Config.ID == run.ID })
		if i < 0 {
			config := sweep.Configuration{ID: run.ID, Name: run.ID}
			if len(run.Records) > 0 {
				config = run.Records[0].Configuration
			}
			subjects = append(subjects, Subject{Config: config, Side: side, Against: -1})
			i = len(subjects) - 1
		}
		subjects[i].Runs = append(subjects[i].Runs, run)
	}
	return subjects
}

func counterpart(among []Subject, c sweep.Configuration, alone bool) int {
	if i := slices.IndexFunc(among, func(s Subject) bool { return s.Config.ID == c.ID }); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(among, func(s Subject) bool { return s.Config.Name == c.Name }); i >= 0 || !alone {
		return i
	}
	return 0
}
