package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

func launchCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "launch", Usage: "start one configuration of a sweep file, wait until it serves, and leave it", ArgsUsage: "FILE",
		Description: "Prints the URL. The server stays until `sweep clean HOST NAME --yes` ends it; a sweep that needs\n" +
			"the GPUs refuses meanwhile and names it.\n\n  sweep launch night.yaml --only card-recipe\n  sweep launch --only parallel=tp8,p2p=sys night.yaml",
		Flags: append(append(append(planFlags(), flagFlags()...), agentFlag(),
			&cli.StringFlag{Name: "plan", Usage: "of this frozen `PLAN` (of plan --json; - for stdin) instead of a sweep file"},
			&cli.BoolFlag{Name: "here", Usage: "on this machine, whatever host the file names"},
			&cli.BoolFlag{Name: "json", Usage: "what was started, as JSON"}), linkFlags()...),
		Action: func(c *cli.Context) error {
			plan, err := planOrFrozen(c, s)
			if err != nil {
				return err
			}
			if n := len(plan.Configurations); n != 1 {
				return usage("launch starts one configuration, and these are %d: name one with --only; `sweep plan` lists them", n)
			}
			if isAway(plan) && !c.Bool("here") {
				return launchAway(c, s, plan)
			}
			return launchHere(c, s, plan)
		},
	}
}

// launchAway does the same on the plan's host.
func launchAway(c *cli.Context, s streams, plan *sweep.Plan) error {
	if len(plan.Secrets) > 0 {
		return usage("launch on another host cannot pass secrets (%s) on: run it on that host, where they are set", strings.Join(plan.Secrets, ", "))
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	place, err := arrive(c, s, plan.Host, plan.File)
	if err != nil {
		return err
	}
	defer place.Close()
	if err := notBusy(c.Context, place, ""); err != nil {
		return err
	}
	var answer bytes.Buffer
	to := s
	to.out = &answer
	if err := sweepThere(c, to, place, []string{"launch", "--plan", "-", "--here", "--json"}, bytes.NewReader(text)); err != nil {
		return err
	}
	var l launched
	if err := json.Unmarshal(answer.Bytes(), &l); err != nil {
		return &codeError{exitHost, fmt.Errorf("%s: launch answered %.100q", place.Name(), answer.Bytes())}
	}
	return writeLaunched(c, s, l, place)
}

func launchHere(c *cli.Context, s streams, plan *sweep.Plan) error {
	secrets, err := secretsOf(plan.Secrets)
	if err != nil {
		return err
	}
	rt, err := runtimeFor(c.Context, plan.Runtime(), c.String("agent"))
	if err != nil {
		return err
	}
	name := plan.Configurations[0].Name
	l, err := runner.Launch(c.Context, plan, runner.Options{Runtime: rt, StateDir: stateDir(), Command: runner.Local{}, Version: version(),
		Facts: runner.HostFacts(c.Context, runner.Local{}), Secrets: secrets, Others: otherRuntimes(c.Context, plan.Runtime())}, launchProgress(s, name))
	if failed := (*launch.StartError)(nil); errors.As(err, &failed) {
		for _, line := range failed.Excerpt {
			tell(s.err, "  "+line)
		}
		return fmt.Errorf("launch %s: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("launch %s: %w", name, err)
	}
	end := "sweep clean local " + l.Instance.Name + " --yes"
	if isAway(plan) {
		end = "sweep clean " + plan.Host + " " + l.Instance.Name + " --yes"
	}
	return writeLaunched(c, s, launched{Schema: sweep.Schema, Name: name, Instance: l.Instance.Name, Container: l.Instance.Container,
		URL: l.URL, Inside: l.Inside, Ready: l.Ready.Seconds, End: end}, nil)
}

// launchProgress says what a start is at, a line a phase.
func launchProgress(s streams, name string) func(launch.Progress) {
	began, last := time.Now(), ""
	return func(p launch.Progress) {
		if phase := string(p.Phase); phase != last {
			last = phase
			tell(s.err, fmt.Sprintf("sweep: %s: %s, %d s", name, phase, int(time.Since(began).Seconds())))
		}
	}
}
