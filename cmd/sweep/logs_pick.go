package main

import (
	"slices"
	"strings"

	"sweep/internal/matrix"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// newestAttempt is the last attempt of the run that was begun last among those
// a person means, or its attempt of that number. It is nil where there is none
// yet; a name that is not known is a store.ErrNotFound.
func newestAttempt(dir *store.Dir, name string, attempt int) (*sweep.Record, error) {
	_, runs, _, err := findRuns(dir, name)
	if err != nil {
		return nil, err
	}
	var newest *sweep.Run
	for i, run := range runs {
		if n := len(run.Records); n > 0 && (newest == nil || run.Records[n-1].Started.After(newest.Records[len(newest.Records)-1].Started)) {
			newest = &runs[i]
		}
	}
	if newest == nil {
		return nil, nil
	}
	records := newest.Records
	if attempt == 0 {
		return &records[len(records)-1], nil
	}
	if i := slices.IndexFunc(records, func(r sweep.Record) bool { return r.Attempt == attempt }); i >= 0 {
		return &records[i], nil
	}
	return nil, usage("the run %s has no attempt %d: it has %d", newest.Name, attempt, len(records))
}

// nextOf is the night under way here that has a run to come of what a person
// means, one in flight included; "" where there is none.
func nextOf(dir *store.Dir, name string) (string, error) {
	nights, err := underWay(dir)
	if err != nil {
		return "", err
	}
	for _, n := range nights {
		whole := len(meant([]*store.Night{n}, name)) > 0
		events, _, err := n.Events()
		if err != nil {
			return "", err
		}
		over, runs := map[int]bool{}, map[int]string{}
		for _, e := range events {
			switch e.Type {
			case store.RunStart:
				runs[e.Ordinal] = e.Run
				delete(over, e.Ordinal)
			case store.RunEnd, store.RunReused, store.RunSkipped:
				over[e.Ordinal] = true
			}
		}
		plan := n.Plan()
		for _, p := range plan.Runs {
			if !over[p.Ordinal] && (whole || strings.HasPrefix(runs[p.Ordinal], name) || configurationMeant(plan, p.Config, name)) {
				return n.ID(), nil
			}
		}
	}
	return "", nil
}

// planMeant tells whether a person may mean a configuration of a plan.
func planMeant(plan *sweep.Plan, name string) bool {
	return slices.ContainsFunc(plan.Configurations, func(c sweep.Configuration) bool { return configurationMeant(plan, c.ID, name) })
}

// configurationMeant takes a configuration's name, the beginning of its ID, or
// labels (axis=label,axis=label).
func configurationMeant(plan *sweep.Plan, id, name string) bool {
	i := slices.IndexFunc(plan.Configurations, func(c sweep.Configuration) bool { return c.ID == id })
	if i < 0 || name == "" {
		return false
	}
	c := plan.Configurations[i]
	if c.Name == name || strings.HasPrefix(id, name) {
		return true
	}
	for word := range strings.SplitSeq(name, ",") {
		axis, value, ok := strings.Cut(word, "=")
		if !ok || !slices.ContainsFunc(c.Labels, func(l matrix.Label) bool { return l.Axis == axis && l.Value == value }) {
			return false
		}
	}
	return true
}
