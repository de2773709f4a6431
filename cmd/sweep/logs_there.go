package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// movedLog is the night under way on another host whose server's log a person
// means; nil where the log is here. What was begun here later wins.
func movedLog(dir *store.Dir, name string) (*move.Entry, error) {
	entries, _, err := registry().List()
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e *move.Entry) bool { return e.Ended })
	if len(entries) == 0 {
		return nil, nil
	}
	if next, err := nextOf(dir, name); err != nil || next != "" {
		return nil, err
	}
	record, _ := newestAttempt(dir, name, 0) // what is not here may be there
	for _, e := range slices.Backward(entries) {
		switch {
		case record != nil && record.Sweep != e.Night && record.Started.After(e.Started):
			continue // a later night, here
		case record != nil && strings.HasPrefix(record.Run, name) && slices.Contains(e.Brought, record.Run):
			continue // this very run has ended and is at home
		case record == nil || move.Find([]*move.Entry{e}, name) != nil || record.Sweep == e.Night || entryMeant(e, name):
			return e, nil
		}
	}
	return nil, nil
}

// entryMeant tells whether a moved night measures what a person names, as far
// as its plan is at home.
func entryMeant(e *move.Entry, name string) bool {
	plan := planAtHome(e)
	return plan != nil && planMeant(plan, name)
}

// planAtHome is the plan of a moved night, nil where it was not brought yet.
func planAtHome(e *move.Entry) *sweep.Plan {
	if e.Night == "" {
		return nil
	}
	dir, err := store.Open(e.Home)
	if err != nil {
		return nil
	}
	night, err := dir.OpenNight(e.Night)
	if err != nil {
		return nil
	}
	return night.Plan()
}

// logsThere asks the sweep on the host of a moved night.
func logsThere(c *cli.Context, s streams, e *move.Entry, name string) error {
	place, err := reachEntry(c, e, func(text string) { tell(s.err, "sweep: "+printable(text)) }, nil)
	if err != nil {
		return err
	}
	defer place.Close()
	if err := installed(c, place, e); err != nil {
		return err
	}
	if move.Find([]*move.Entry{e}, name) != nil { // its key is not known there
		if name = e.Night; name == "" {
			name = "last"
		}
	}
	tell(s.err, fmt.Sprintf("sweep: night %s is on %s: the log is read there", e.Handle(), place.Name()))
	return sweepThere(c, s, place, append(logsArgs(c, name), "--data", e.Data), nil)
}
