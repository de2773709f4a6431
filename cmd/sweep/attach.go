package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/store"
)

func attachCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "attach", Usage: "follow a night on another host again, and bring its records home", ArgsUsage: "[SWEEP]", BashComplete: completeNights(false),
		Description: "SWEEP is a night as `sweep status` lists it, or the sweep's name; without it, the last one. Ctrl-C\n" +
			"only leaves. A night that was cut off, by a reboot say, goes on; its secrets are taken from this\n" +
			"environment again.\n\n  sweep attach\n  sweep attach night --json | jq .",
		Flags: append([]cli.Flag{agentFlag(), &cli.BoolFlag{Name: "json", Usage: "events as JSON lines on stdout, from the first on"}}, linkFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage("attach takes one night, got %d", c.NArg())
			}
			entry, err := movedNight(c.Args().First())
			if err != nil {
				return err
			}
			if entry.Ended {
				fmt.Fprintf(s.err, "sweep: that night is over and its records are here: `sweep report %s`\n", entry.Handle())
				if entry.Code != nil && *entry.Code != exitOK {
					return silent(*entry.Code)
				}
				return nil
			}
			return attach(c, s, entry)
		},
	}
}

// movedNight is the moved night that a person means.
func movedNight(name string) (*move.Entry, error) {
	entries, _, err := registry().List()
	if err != nil {
		return nil, err
	}
	if entry := move.Find(entries, name); entry != nil {
		return entry, nil
	}
	if name == "" || len(entries) == 0 {
		return nil, usage("no night was moved to another host from here; `sweep run FILE` does that where the file's host: names one")
	}
	return nil, usage("no night on another host is called %s; `sweep status` lists them", name)
}

func attach(c *cli.Context, s streams, entry *move.Entry) error {
	dir, err := store.Open(entry.Home)
	if err != nil {
		return err
	}
	screen := newScreen(s, c.Bool("json"))
	defer screen.close() //nolint:errcheck // what a reader that went away misses is on disk
	place, err := reachEntry(c, entry, screen.note, func(reason error) { screen.linked(entry.Alias, reason) })
	if err == nil {
		defer place.Close()
		err = installed(c, place, entry)
	}
	if errors.Is(err, context.Canceled) {
		screen.close() //nolint:errcheck // nothing was written
		fmt.Fprintf(s.err, "sweep: left; the night on %s goes on: `sweep attach %s` follows it\n", entry.Alias, entry.Handle())
		return silent(exitInterrupted)
	}
	if err != nil {
		return err
	}
	a := &attached{c: c, s: s, place: place, entry: entry, dir: dir, screen: screen}
	if night, err := dir.OpenNight(entry.Handle()); err == nil {
		a.plan = night.Plan()
	} else if plan, err := place.Plan(c.Context, entry); err == nil { // only the time left rests on it
		a.plan = plan
	}
	screen.note(fmt.Sprintf("following %s on %s (%s); Ctrl-C only leaves", entry.Handle(), place.Name(), place.Login()))
	return a.follow()
}

// reachEntry connects to the host of a moved night as it was reached before.
func reachEntry(c *cli.Context, entry *move.Entry, note func(string), link func(error)) (*move.Place, error) {
	o := reachOptions(c, entry.Target(), note)
	o.Config = sshConfig(entry.SSHConfig)
	o.Link = link
	return reach(c.Context, o, "")
}
