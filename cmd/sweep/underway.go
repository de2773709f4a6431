package main

import (
	"strings"
	"time"

	"sweep/internal/store"
	"sweep/internal/sweep"
)

// nightStatus is a night under way, at a glance. What is not known is left out.
type nightStatus struct {
	Night    string    `json:"night,omitempty"`
	Key      string    `json:"key,omitempty"` // of a night that was moved to another host
	Name     string    `json:"name"`
	Host     string    `json:"host"`
	State    string    `json:"state"` // one of the states below
	Run      int       `json:"run,omitempty"`
	Runs     int       `json:"runs"`
	Config   string    `json:"configuration,omitempty"`
	Now      string    `json:"now,omitempty"`
	Left     string    `json:"left,omitempty"`
	Started  time.Time `json:"started"`
	PlanHash string    `json:"plan_hash"`
	Note     string    `json:"note,omitempty"` // what to know or do
}

// The states of a night in `sweep status`.
const (
	stateRunning     = "running"
	stateStopping    = "stopping"
	stateEnded       = "ended" // its records are not all at home
	stateCutOff      = "cut off"
	stateUnreachable = "unreachable"
)

// underWay are the nights that a runner on this machine is at work on.
func underWay(dir *store.Dir) ([]*store.Night, error) {
	infos, _, err := dir.Nights()
	if err != nil {
		return nil, err
	}
	var nights []*store.Night
	for _, info := range infos {
		n, err := dir.OpenNight(info.ID)
		if err != nil {
			continue // it is told by `sweep ls`
		}
		if runs, err := n.UnderWay(); err == nil && runs {
			nights = append(nights, n)
		}
	}
	return nights, nil
}

// statusOf follows a night's journal to where it is now.
func statusOf(dir *store.Dir, n *store.Night, now time.Time) (nightStatus, error) {
	plan := n.Plan()
	s := nightStatus{Night: n.ID(), Name: plan.Name, Host: "here", State: stateRunning, Runs: len(plan.Runs), PlanHash: plan.Hash}
	events, _, err := n.Events()
	if err != nil {
		return s, err
	}
	c := clock{expected: expect(plan.EstimateLeft(sweep.AssumptionsFor(plan), sweep.TimesOf(earlierRuns(dir, plan)), nil))}
	for i, e := range events {
		if i == 0 {
			s.Started = e.At
		}
		c.event(e)
		switch e.Type {
		case store.NightResume:
			s.State = stateRunning
		case store.Stopping:
			s.State = stateStopping
		}
	}
	if c.total > 0 && c.name != "" {
		s.Run, s.Config, s.Now, s.Left = c.ordinal, c.name, c.now, c.left(now)
	}
	return s, nil
}

// meant are the nights under way that a person means by a name.
func meant(nights []*store.Night, name string) []*store.Night {
	var some []*store.Night
	for _, n := range nights {
		switch id := n.ID(); {
		case id == name:
			return []*store.Night{n}
		case name == "last", n.Plan().Name == name, strings.HasPrefix(id, name), strings.HasSuffix(id, "-"+name):
			some = append(some, n)
		}
	}
	return some
}
