package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sweep/internal/supervise"
)

// gaveUp says that the night goes on without us.
func (a *attached) gaveUp(err error) error {
	a.screen.close() //nolint:errcheck // what a reader that went away misses is on disk
	attach := fmt.Sprintf("the night on %s goes on: `sweep attach %s` follows it again", a.place.Name(), a.handle())
	if errors.Is(err, errLeft) {
		fmt.Fprintln(a.s.err, "sweep: left; "+attach)
		return silent(exitInterrupted)
	}
	return &codeError{exitHost, fmt.Errorf("%w\n%s", err, attach)}
}

func (a *attached) handle() string {
	if a.homing != nil {
		return a.homing.Handle()
	}
	return a.entry.Handle()
}

func (a *attached) hasBegun() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begun
}

// notAgain leaves a night as it is, cut off.
func (a *attached) notAgain(why string) error {
	a.screen.close() //nolint:errcheck // what a reader that went away misses is on disk
	return &codeError{exitHost, fmt.Errorf("%s\n`sweep attach %s` goes on with it", why, a.handle())}
}

// goOn starts a night again that was cut off.
func (a *attached) goOn(ctx context.Context, why string, again int) error {
	a.mu.Lock()
	asked, last := a.asked, slices.Clone(a.last)
	a.mu.Unlock()
	text := fmt.Sprintf("the night on %s was cut off: %s", a.place.Name(), why)
	if len(last) > 0 {
		text += "; its last words: " + strings.Join(last, " | ")
	}
	if asked || again >= againMost {
		return a.notAgain(text)
	}
	if err := notBusy(ctx, a.place, a.entry.PlanHash); err != nil {
		return fmt.Errorf("%s; it cannot go on: %w", text, err)
	}
	a.screen.note(text)
	secrets, err := secretsOf(a.entry.Secrets)
	if err != nil {
		return fmt.Errorf("%s: it needs its secrets again: %w", text, err)
	}
	if err := installed(a.c, a.place, a.entry); err != nil {
		return err
	}
	if err := a.place.Again(ctx, registry(), a.entry, secrets); err != nil {
		return atHost(err)
	}
	a.screen.note("it goes on; what was measured is not measured again")
	return nil
}

// ended brings everything home and ends as the night ended.
func (a *attached) ended(ctx context.Context, state supervise.State) error {
	if !a.hasBegun() && a.entry.Night == "" {
		return a.neverBegan(state)
	}
	home := a.homing.Finish(ctx)
	a.screen.close() //nolint:errcheck // what a reader that went away misses is on disk
	code := *state.Exit.Code
	night := a.homing.Night()
	if home != nil {
		home = &codeError{exitHost, fmt.Errorf("not all records are at home: %w; `sweep attach %s` brings the rest", home, a.handle())}
	} else {
		a.entry.Ended, a.entry.Code = true, &code
		home = errors.Join(registry().Save(a.entry), a.place.Tidy(ctx, a.entry))
	}
	if night != "" && !a.c.Bool("json") {
		if err := writeReport(a.dir, night, nil, a.s.out, "text"); err != nil && home == nil && code != exitInterrupted {
			return err
		}
	}
	switch {
	case home != nil:
		return home
	case code != exitOK:
		return silent(code)
	}
	return nil
}

// neverBegan takes a start back that ended before there was a night. It has
// said why.
func (a *attached) neverBegan(state supervise.State) error {
	a.homing.Leave()
	a.screen.close() //nolint:errcheck // nothing was written
	if err := a.place.Undo(context.WithoutCancel(a.c.Context), registry(), a.entry); err != nil {
		return atHost(err)
	}
	if why := a.place.CutOff(a.entry, state); why != "" {
		return &codeError{exitHost, fmt.Errorf("the night did not begin on %s: %s", a.place.Name(), why)}
	}
	if code := *state.Exit.Code; code != exitOK {
		return silent(code)
	}
	return nil
}
