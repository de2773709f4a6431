package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// registry is where moved nights are remembered.
func registry() move.Registry { return move.OpenRegistry(stateDir()) }

// runMoved runs a plan on the host that it names, and follows it as if it ran
// here.
func runMoved(c *cli.Context, s streams, plan *sweep.Plan) (err error) {
	secrets, err := readyToRun(c, s, plan)
	if err != nil {
		return err
	}
	registry().Prune(time.Now())
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	target, hint, err := targetOf(plan.Host, plan.File)
	if err != nil {
		return err
	}
	screen := newScreen(s, c.Bool("json"))
	defer screen.close() //nolint:errcheck // what a reader that went away misses is on disk
	options := reachOptions(c, target, screen.note)
	options.Link = func(reason error) { screen.linked(plan.Host, reason) }
	place, err := reach(c.Context, options, hint)
	if err != nil {
		return err
	}
	defer place.Close()
	began := time.Now()
	installed, err := install(c, place)
	if err != nil {
		return err
	}
	if installed.Pushed > 0 {
		screen.note(fmt.Sprintf("%s (%s): sweep was put there, %s in %s", place.Name(), place.Login(), sizeText(installed.Pushed), short(time.Since(began))))
	}
	if err := notBusy(c.Context, place, plan.Hash); err != nil {
		return err
	}
	if err := checkThere(c, s, place, plan); err != nil {
		return err
	}
	entry, err := place.Start(c.Context, registry(), move.Request{Plan: plan, Secrets: secrets, Options: options, Home: dir.Path()})
	if err != nil {
		return atHost(err)
	}
	a := &attached{c: c, s: s, place: place, entry: entry, dir: dir, screen: screen, owner: true, plan: plan}
	if c.Bool("detach") {
		return a.detach()
	}
	screen.note(fmt.Sprintf("the night runs on %s (%s), with or without this terminal; `sweep attach %s` follows it", place.Name(), place.Login(), called(entry)))
	return a.follow()
}

// checkThere looks before the night, over there: what would fail at three in
// the morning is said now. Only what is to be mended or looked at is shown.
func checkThere(c *cli.Context, s streams, place *move.Place, plan *sweep.Plan) error {
	if c.Bool("no-check") {
		return nil
	}
	sayClock(s, place)
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	code, err := place.Sweep(c.Context, []string{"check", "--plan", "-", "--quiet"}, bytes.NewReader(text), s.err, s.err)
	switch {
	case err != nil:
		return atHost(err)
	case code == exitFailed:
		return &codeError{exitHost, fmt.Errorf("the check of %s failed, and nothing was started: mend what is marked FAIL, or run with --no-check", place.Name())}
	case code != exitOK:
		return silent(code)
	}
	return nil
}

// called is what to call a night that was just moved: by its sweep's name, where
// that can be typed as it is.
func called(e *move.Entry) string {
	if plainName.MatchString(e.Name) {
		return e.Name
	}
	return e.Handle()
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// notBusy refuses a host on which a night is under way.
func notBusy(ctx context.Context, place *move.Place, planHash string) error {
	nights, err := nightsThere(ctx, place)
	if err != nil || len(nights) == 0 {
		return err
	}
	n := nights[0]
	entries, _, err := registry().List()
	if err != nil {
		return err
	}
	which := fmt.Sprintf("another sweep, %s (night %s)", printable(n.Name), printable(n.Night))
	if n.PlanHash == planHash {
		which = fmt.Sprintf("this very sweep (night %s)", printable(n.Night))
	}
	for _, e := range entries {
		if e.Night == n.Night || e.Night == "" && e.PlanHash == n.PlanHash && !e.Ended {
			return &codeError{exitHost, fmt.Errorf("%s is busy: %s is under way there; `sweep attach %s` follows it, `sweep stop %s` ends it", place.Name(), which, e.Handle(), e.Handle())}
		}
	}
	return &codeError{exitHost, fmt.Errorf("%s is busy: %s is under way there, started there or from another machine; `sweep status` and `sweep stop %s` on %s tell and end it",
		place.Name(), which, printable(n.Night), place.Name())}
}

// nightsThere are the nights under way on another host.
func nightsThere(ctx context.Context, place *move.Place) ([]nightStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out, said bytes.Buffer
	code, err := place.Sweep(ctx, []string{"status", "--json", "--here"}, nil, &out, &said)
	if err != nil {
		return nil, atHost(fmt.Errorf("ask for the nights there: %w", err))
	}
	var nights []nightStatus
	if err := json.Unmarshal(out.Bytes(), &nights); err != nil || code != exitOK {
		return nil, &codeError{exitHost, fmt.Errorf("%s: ask for the nights there: %s", place.Name(), printable(lastWords(said.Bytes())))}
	}
	return nights, nil
}

var errBegun = errors.New("the night has begun")

// detach leaves once the night has begun, or says why it did not.
func (a *attached) detach() error {
	ctx, begun := context.WithCancelCause(context.WithoutCancel(a.c.Context))
	defer begun(nil)
	defer context.AfterFunc(a.c.Context, func() { begun(context.Cause(a.c.Context)) })()
	a.homing = a.place.Bring(ctx, registry(), a.entry, a.screen.note)
	defer a.homing.Leave()
	state, err := a.place.Follow(ctx, a.entry, 0, move.Watch{Said: a.screen.said, Event: func(e store.Event, _ int64) {
		a.homing.Event(e)
		begun(errBegun)
	}})
	switch {
	case errors.Is(err, errBegun), errors.Is(err, context.Canceled):
		a.homing.Leave() // it has remembered the night's name
		handle := a.handle()
		a.screen.close() //nolint:errcheck // nothing was written
		fmt.Fprintf(a.s.err, "sweep: the night runs on %s (%s)\n  sweep attach %s   follows it\n  sweep status\n  sweep stop %s\n", a.place.Name(), a.place.Login(), handle, handle)
		return nil
	case err != nil:
		return a.gaveUp(err)
	}
	return a.neverBegan(state)
}
