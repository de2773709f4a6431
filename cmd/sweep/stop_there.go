package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/store"
)

func stopThere(c *cli.Context, s streams, e *move.Entry, how store.StopOrder) error {
	place, err := reachPlainly(c.Context, e)
	if err != nil {
		return atHost(err)
	}
	defer place.Close()
	place.Use(e.Binary)
	night, err := nightOf(c.Context, place, e)
	if err != nil {
		return err
	}
	if err := order(c.Context, place, e, night, how); err != nil {
		return atHost(err)
	}
	if c.Bool("no-wait") {
		return nil
	}
	say := stopProgress(s, night+" on "+place.Name(), how)
	for {
		state, err := place.State(c.Context, e)
		if err != nil && c.Context.Err() == nil {
			return atHost(fmt.Errorf("%w; it was asked to stop", err))
		}
		if err == nil && move.Over(state) {
			how := "it has ended"
			if why := place.CutOff(e, state); why != "" {
				how = "it was cut off: " + why
			}
			fmt.Fprintf(s.err, "sweep: night %s on %s: %s; `sweep attach %s` brings its records home\n", night, place.Name(), how, e.Handle())
			return nil
		}
		say(time.Now())
		if !pauseFor(c.Context, 4*stopEvery) {
			return leftStopping(s, night)
		}
	}
}

// nightOf is the ID of a moved night.
func nightOf(ctx context.Context, place *move.Place, e *move.Entry) (string, error) {
	nights, err := nightsThere(ctx, place)
	if err != nil {
		return "", err
	}
	for _, n := range nights {
		if n.Night == e.Night || e.Night == "" && n.PlanHash == e.PlanHash {
			return n.Night, nil
		}
	}
	return "", &codeError{exitFailed, fmt.Errorf("%s does not run on %s any more; `sweep attach %s` says how it ended and brings its records home", e.Handle(), place.Name(), e.Handle())}
}

// order asks a night on another host to stop: by the same `sweep stop`, over
// there.
func order(ctx context.Context, place *move.Place, e *move.Entry, night string, o store.StopOrder) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	args := []string{"stop", "--no-wait", "--data", e.Data}
	if o == store.StopAfterLevel {
		args = append(args, "--after-level")
	}
	var said bytes.Buffer
	code, err := place.Sweep(ctx, append(args, "--", night), nil, nil, &said)
	switch {
	case err != nil:
		return fmt.Errorf("ask night %s to stop: %w", night, err)
	case code == exitFailed: // it has just ended
		return nil
	case code != exitOK:
		return fmt.Errorf("ask night %s to stop: %s: %s", night, place.Name(), printable(lastWords(said.Bytes())))
	}
	return nil
}
