package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/matrix"
	"sweep/internal/move"
	"sweep/internal/remote"
	"sweep/internal/sweep"
)

// sshConfigVariable names an SSH configuration to use instead of ~/.ssh/config.
const sshConfigVariable = "SWEEP_SSH_CONFIG"

// defaultPatience is how long a lost link is waited for.
const defaultPatience = 10 * time.Minute

// sshConfig is the SSH configuration that counts: the variable's, else the one
// that was used before, else ssh's own ("").
func sshConfig(before string) string { return cmp.Or(os.Getenv(sshConfigVariable), before) }

// linkFlags are those of commands that reach another host.
func linkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "accept-new-host-key", Usage: "take the key of a host that known_hosts does not know, and write it there"},
		&cli.DurationFlag{Name: "patience", Value: defaultPatience, Usage: "how long a lost link to another host is tried to be made again"},
	}
}

// isAway tells whether a plan is for another machine.
func isAway(plan *sweep.Plan) bool { return plan.Host != "" && plan.Host != "local" }

// targetOf finds out how the host that a file names is reached: what hosts.yaml
// says wins over the SSH configuration.
func targetOf(alias, file string) (target remote.Target, hint string, err error) {
	hosts, err := hostsFor(file)
	if err != nil {
		return target, "", err
	}
	if host, near, ok := hosts.Find(alias); ok {
		return remote.Target{Alias: alias, Address: host.Address, User: host.User, Sudo: host.Sudo}, "", nil
	} else if hosts.File != "" {
		hint = near
	}
	return remote.Target{Alias: alias}, hint, nil
}

// reachOptions are how a host is reached by the flags of a command.
func reachOptions(c *cli.Context, target remote.Target, note func(string)) move.Options {
	return move.Options{Target: target, Config: sshConfig(""), AcceptNewHostKey: c.Bool("accept-new-host-key"),
		Patience: cmp.Or(c.Duration("patience"), defaultPatience), Note: note}
}

// reach connects to a host. What cannot be reached is exit code 3.
func reach(ctx context.Context, o move.Options, hint string) (*move.Place, error) {
	place, err := move.Reach(ctx, o)
	var dial *remote.DialError
	if errors.As(err, &dial) && dial.Kind == remote.KindDNS {
		if hint == "" {
			hint = matrix.Suggest(o.Target.Alias, remote.Aliases(remote.Local{Config: o.Config}))
		}
		if hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
	}
	return place, atHost(err)
}

// atHost makes exit code 3 of what went wrong on another host.
func atHost(err error) error {
	var coded *codeError
	var config *remote.ConfigError
	if err == nil || errors.As(err, &coded) || errors.As(err, &config) || errors.Is(err, context.Canceled) {
		return err
	}
	return &codeError{exitHost, err}
}

// install puts this sweep on a host.
func install(c *cli.Context, place *move.Place) (move.Installed, error) {
	done, err := place.Install(c.Context, func(ctx context.Context, goos, goarch string) (string, error) {
		return agentFor(ctx, c.String("agent"), goos, goarch)
	})
	return done, atHost(err)
}

// installed makes sure of the sweep that a night was started with: a night goes
// on with the same one. Where that is gone, this one is put there.
func installed(c *cli.Context, place *move.Place, entry *move.Entry) error {
	has, err := place.Has(c.Context, entry.Binary)
	if err != nil {
		return atHost(err)
	}
	if has {
		place.Use(entry.Binary)
		return nil
	}
	_, err = install(c, place)
	return err
}

// forward runs `sweep ARGS` on another host, with its streams and its exit
// code; anything else is an error. The host is named as in a sweep file here.
func forward(c *cli.Context, s streams, alias string, args []string, stdin io.Reader) error {
	place, err := arrive(c, s, alias, hostsHere)
	if err != nil {
		return err
	}
	defer place.Close()
	return sweepThere(c, s, place, args, stdin)
}

// hostsHere is the file beside which hosts.yaml is looked for where no sweep
// file is in play: the working directory.
const hostsHere = "hosts.yaml"

// arrive connects to the host that a sweep file names, and puts this sweep on
// it. What is beside file may say how it is reached.
func arrive(c *cli.Context, s streams, alias, file string) (*move.Place, error) {
	target, hint, err := targetOf(alias, file)
	if err != nil {
		return nil, err
	}
	note := func(text string) { fmt.Fprintln(s.err, "sweep: "+printable(text)) }
	place, err := reach(c.Context, reachOptions(c, target, note), hint)
	if err != nil {
		return nil, err
	}
	if _, err := install(c, place); err != nil {
		_ = place.Close() // why it is left is what matters
		return nil, err
	}
	return place, nil
}

// sweepThere runs `sweep ARGS` on a host that was arrived at.
func sweepThere(c *cli.Context, s streams, place *move.Place, args []string, stdin io.Reader) error {
	code, err := place.Sweep(c.Context, args, stdin, s.out, s.err)
	switch {
	case err != nil:
		return atHost(err)
	case code != exitOK:
		return silent(code)
	}
	return nil
}
