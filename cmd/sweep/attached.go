package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/remote"
	"sweep/internal/store"
	"sweep/internal/supervise"
	"sweep/internal/sweep"
)

// attached follows one night on another host.
type attached struct {
	c      *cli.Context
	s      streams
	place  *move.Place
	entry  *move.Entry
	dir    *store.Dir
	screen *screen
	owner  bool        // Ctrl-C asks the night to stop; otherwise it only leaves
	plan   *sweep.Plan // nil where it is not at home yet
	homing *move.Homing

	mu    sync.Mutex
	begun bool     // the last start said an event
	asked bool     // to stop
	last  []string // what was said last beside events
}

// againMost is how often one attach starts a night that was cut off.
const againMost = 3

// errLeft ends the following, not the night.
var errLeft = errors.New("left")

// follow shows the night until it is over, brings its records home, and ends as
// it ended.
func (a *attached) follow() error {
	ctx, leave := context.WithCancelCause(context.WithoutCancel(a.c.Context))
	defer leave(nil)
	defer context.AfterFunc(a.c.Context, func() { a.interrupted(ctx, leave) })()
	setFarewell(a.c.Context, fmt.Sprintf("the night on %s goes on, or ends if it was asked to:\n`sweep attach %s` follows it", a.place.Name(), called(a.entry)))
	if a.plan != nil {
		a.screen.expect(expect(a.plan.EstimateLeft(sweep.AssumptionsFor(a.plan), sweep.TimesOf(earlierRuns(a.dir, a.plan)), nil)))
	}
	for again := 0; ; again++ {
		state, err := a.once(ctx)
		if err != nil {
			return a.gaveUp(err)
		}
		if err := a.place.Refresh(ctx); err != nil {
			return a.gaveUp(err)
		}
		why := a.place.CutOff(a.entry, state)
		if why == "" && a.entry.Held > 1 && !a.hasBegun() {
			why = fmt.Sprintf("its last start did not come to the night, exit code %d", *state.Exit.Code)
			if again > 0 {
				return a.notAgain(why)
			}
		}
		if why == "" {
			return a.ended(ctx, state)
		}
		if err := a.goOn(ctx, why, again); err != nil {
			return err
		}
	}
}

// once follows the last start to its end.
func (a *attached) once(ctx context.Context) (supervise.State, error) {
	a.homing = a.place.Bring(ctx, registry(), a.entry, a.screen.note)
	defer a.homing.Leave()
	a.mu.Lock()
	a.begun = false
	a.mu.Unlock()
	old := a.backlog(ctx)
	return a.place.Follow(ctx, a.entry, 0, move.Watch{
		Line: func(line []byte) {
			if len(line) > 0 && line[0] == '{' {
				a.screen.line(line)
			}
		},
		Event: func(e store.Event, at int64) {
			a.homing.Event(e)
			a.mu.Lock()
			a.begun, a.last = true, nil
			a.mu.Unlock()
			if !a.screen.json {
				e.At = e.At.Add(-a.place.Ahead())
				a.screen.later(e, at < old)
			}
		},
		Said: func(text string) {
			a.mu.Lock()
			a.last = append(a.last, text)
			a.last = a.last[max(0, len(a.last)-8):]
			a.mu.Unlock()
			a.screen.said(text)
		},
	})
}

// backlog is up to where the output is of the past. Who runs a night sees all
// of it, who attaches sees it from the run under way.
func (a *attached) backlog(ctx context.Context) int64 {
	if a.owner {
		return 0
	}
	size, err := a.place.Said(ctx, a.entry)
	if err != nil {
		return 0 // then all of it is shown
	}
	return size
}

// interrupted asks the night to stop, or leaves it.
func (a *attached) interrupted(ctx context.Context, leave context.CancelCauseFunc) {
	if !a.owner || !byHand(a.c.Context) {
		leave(errLeft)
		return
	}
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	a.screen.note(fmt.Sprintf("stopping: the sweep on %s is asked to end its server; Ctrl-C again leaves at once", a.place.Name()))
	for ctx.Err() == nil {
		night := a.homing.Night()
		if night == "" {
			time.Sleep(200 * time.Millisecond) // it is just beginning
			continue
		}
		err := order(ctx, a.place, a.entry, night, store.StopNow)
		if err == nil || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, remote.ErrLost) && !errors.Is(err, context.DeadlineExceeded) {
			a.screen.note("the sweep there could not be asked to stop: " + err.Error())
			return
		}
	}
}
