// Package runner drives a plan through one night on this host: for each run it
// starts the server, measures the levels, tears down and proves the host
// clean. Every change is in the journal before the next step is taken, so that
// a night can be taken up again from any instant.
package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sweep/internal/check"
	"sweep/internal/gpu"
	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// Options is what a night needs besides its plan.
type Options struct {
	Store    *store.Dir
	Runtime  launch.Runtime
	Tools    check.Tools   // of the same runtime
	StateDir string        // where the host's lock is
	Command  gpu.Commander // runs nvidia-smi on the host
	Version  string        // of sweep, for the fingerprint
	Facts    sweep.HostFacts
	Watch    func(store.Event) // receives each event after it is on disk
	Secrets  []string          // NAME=value for the servers; never written or shown

	Others []launch.Runtime // of this host, in which something of an earlier sweep may be
}

// bound gives every call of every runtime its deadline.
func (o *Options) bound() {
	o.Runtime = launch.Bounded(o.Runtime)
	others := make([]launch.Runtime, len(o.Others))
	for i, rt := range o.Others {
		others[i] = launch.Bounded(rt)
	}
	o.Others = others
}

// Outcome is how a night ended.
type Outcome struct {
	Night       string
	Measured    int  // levels measured in this start of the night, well or badly
	Reused      int  // levels that were there already
	Invalid     int  // levels, of all of these, that are invalid
	Failed      int  // runs that failed
	Unmeasured  int  // levels that the bench could not measure though the server served
	NotRun      int  // runs that were not reached
	Interrupted bool // a person asked to stop
}

// ErrHost means that the host is not fit to go on.
var ErrHost = errors.New("host is not fit")

// Night runs a plan. When ctx ends it stops measuring, finishes the teardown
// on a context of its own, and returns with Outcome.Interrupted.
//
// The same plan as an unfinished night's goes on in that night; any other plan
// starts a new one. In both, what was measured before under the same ID, host
// and level key is reused, and the journal says why.
func Night(ctx context.Context, plan *sweep.Plan, o Options) (outcome Outcome, err error) {
	unlock, err := lockHost(LockPath(o.StateDir))
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()

	night, resumed, other, err := openNight(o.Store, plan)
	if err != nil {
		return Outcome{}, err
	}
	journal, err := night.Journal()
	if err != nil {
		return Outcome{}, fmt.Errorf("open the journal of %s: %w", night.ID(), err)
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	if o.Watch != nil {
		journal.Subscribe(o.Watch)
	}
	o.bound()
	n := &nightRun{Options: o, plan: plan, night: night, journal: journal, outcome: Outcome{Night: night.ID()}, counted: map[string]bool{}}
	n.other = other
	if n.deadline, err = n.deadlineOf(time.Now()); err != nil {
		return n.outcome, err
	}
	ctx, stop, err := n.listen(ctx)
	if err != nil {
		return n.outcome, err
	}
	defer stop()
	err = n.drive(ctx, resumed)
	return n.outcome, err
}

// Code is the exit code that an outcome stands for: 0 when every level is valid
// or suspect, 1 when something failed, is invalid or was not run, 130 when a
// person stopped it.
func (o Outcome) Code() int {
	switch {
	case o.Interrupted:
		return 130
	case o.Failed > 0 || o.NotRun > 0 || o.Invalid > 0 || o.Unmeasured > 0:
		return 1
	default:
		return 0
	}
}

// openNight finds the unfinished night of this very plan, or makes a new one.
// other is the last night of that name, where it is not over and was planned
// otherwise: what is run now is not what it was made of.
func openNight(dir *store.Dir, plan *sweep.Plan) (night *store.Night, resumed bool, other string, err error) {
	nights, _, err := dir.Nights()
	if err != nil {
		return nil, false, "", fmt.Errorf("read the nights so far: %w", err)
	}
	named := false
	for _, n := range slices.Backward(nights) {
		if n.PlanHash == plan.Hash && !n.Finished {
			night, err = dir.OpenNight(n.ID)
			return night, true, "", err
		}
		if n.Name == plan.Name && !named {
			named = true
			if !n.Finished {
				other = n.ID
			}
		}
	}
	night, err = dir.CreateNight(plan, time.Now())
	return night, false, other, err
}

// nightRun is the state of one night while it is driven. It is used by one
// goroutine.
type nightRun struct {
	Options
	plan    *sweep.Plan
	night   *store.Night
	journal *store.Journal
	outcome Outcome
	other   string               // an unfinished night of this name, of another plan
	mapped  map[int]store.RunRef // ordinal to run, as the journal of this night says
	ended   map[int]string       // ordinal to how it ended in this night
	counted map[string]bool      // run and level key: measured in this start, so not reused in it
	cleared bool                 // something of an earlier sweep was ended: its GPU memory may take a while to come back
	orders  *orders              // of `sweep stop`, and of the deadline

	deadline time.Time     // when the night has to be over; zero: never
	quickest time.Duration // start of this night; 0: none yet
	rested   bool          // the next start has to wait for the cooldown
	facts    *factsAsker   // asks for package versions; nil asks for none
}

// say writes an event. When the journal cannot be written the night cannot go
// on: its state would be lost.
func (n *nightRun) say(e store.Event) error {
	if _, err := n.journal.Append(e); err != nil {
		return fmt.Errorf("%w: write the journal %s: %w; free some space and run the same command again", ErrHost, n.night.ID(), err)
	}
	return nil
}

// runEvent starts an event about one planned run.
func (n *nightRun) runEvent(t store.EventType, p sweep.PlannedRun, ref store.RunRef) store.Event {
	e := store.Event{Type: t, Ordinal: p.Ordinal, Runs: len(n.plan.Runs), Config: p.Config, Repeat: p.Repeat, Run: ref.Run}
	if c := n.plan.Configuration(p.Config); c != nil {
		e.Name = c.Name
	}
	return e
}
