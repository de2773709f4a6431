package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/store"
)

func stopCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "stop", Usage: "end a night under way, here or on another host, as Ctrl-C does", ArgsUsage: "SWEEP", BashComplete: completeNights(true),
		Description: "SWEEP is a night as `sweep status` lists it, or the sweep's name. Its server is ended, the host is\n" +
			"proven clean, what was measured is kept; the same `sweep run` goes on.\n\n  sweep stop night\n  sweep stop night --after-level",
		Flags: []cli.Flag{dataFlag(), &cli.BoolFlag{Name: "after-level", Usage: "let the level in flight come to its end first"},
			&cli.BoolFlag{Name: "no-wait", Usage: "do not wait until the night has ended"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("stop takes one night, got %d; `sweep status` lists those under way", c.NArg())
			}
			return stop(c, s, c.Args().First())
		},
	}
}

func stop(c *cli.Context, s streams, name string) error {
	order := store.StopNow
	if c.Bool("after-level") {
		order = store.StopAfterLevel
	}
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	nights, err := underWay(dir)
	if err != nil {
		return err
	}
	switch found := meant(nights, name); len(found) {
	case 0:
	case 1:
		return stopHere(c, s, found[0], order)
	default:
		return usage("%d nights under way are called %s; `sweep status` lists them", len(found), name)
	}
	entries, _, err := registry().List()
	if err != nil {
		return err
	}
	entry := move.Find(entries, name)
	switch {
	case entry != nil && !entry.Ended:
		return stopThere(c, s, entry, order)
	case entry != nil:
		return notRunning(entry.Handle())
	}
	if n, err := dir.OpenNight(name); err == nil {
		return notRunning(n.ID())
	}
	return usage("no night is called %s; `sweep status` lists those under way", name)
}

// notRunning is not a mistake of the caller: the night may just have ended.
func notRunning(night string) error {
	return &codeError{exitFailed, fmt.Errorf("night %s is not running; `sweep report %s` shows what it measured", night, night)}
}

// stopEvery is how often a night that was asked to stop is looked at.
const stopEvery = 300 * time.Millisecond

func stopHere(c *cli.Context, s streams, n *store.Night, order store.StopOrder) error {
	if err := n.Order(order); err != nil {
		return err
	}
	if c.Bool("no-wait") {
		return nil
	}
	say := stopProgress(s, n.ID(), order)
	for {
		runs, err := n.UnderWay()
		if err != nil {
			return err
		}
		if !runs {
			break
		}
		if given, err := n.Ordered(); err == nil && given == "" { // it was just beginning, and took it for an old one
			if err := n.Order(order); err != nil {
				return err
			}
		}
		say(time.Now())
		if !pauseFor(c.Context, stopEvery) {
			return leftStopping(s, n.ID())
		}
	}
	_ = n.ClearOrder() // nobody reads it any more
	events, _, err := n.Events()
	if err != nil {
		return err
	}
	text := "it ended without a last word; `sweep clean` shows what it left"
	if len(events) > 0 {
		if e := events[len(events)-1]; e.Type == store.Stopping || e.Type == store.NightEnd {
			text = e.Text
		}
	}
	fmt.Fprintf(s.err, "sweep: night %s has ended: %s\n", n.ID(), printable(text))
	return nil
}

// stopProgress says at once, and then now and again, that a night is stopping.
func stopProgress(s streams, what string, order store.StopOrder) func(time.Time) {
	text := "its server is being ended"
	if order == store.StopAfterLevel {
		text = "the level in flight comes to its end first"
	}
	fmt.Fprintf(s.err, "sweep: night %s was asked to stop: %s (Ctrl-C leaves, the order stands)\n", what, text)
	began := time.Now()
	next := began.Add(15 * time.Second)
	return func(now time.Time) {
		if now.After(next) {
			next = now.Add(15 * time.Second)
			fmt.Fprintf(s.err, "sweep: still stopping, after %s\n", short(now.Sub(began)))
		}
	}
}

func leftStopping(s streams, night string) error {
	fmt.Fprintf(s.err, "sweep: left; night %s ends by itself\n", night)
	return silent(exitInterrupted)
}

// pauseFor waits; false when ctx ended before.
func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
