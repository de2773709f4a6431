package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"sweep/internal/runner"
	"sweep/internal/sweep"
)

func planFlags() []cli.Flag {
	return []cli.Flag{
		onlyFlag(),
		&cli.IntFlag{Name: "max-configs", Value: 500, Usage: "refuse a matrix with more configurations"},
		&cli.IntFlag{Name: "base-port", Usage: "first port of the plan, instead of the file's"},
	}
}

func runCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a sweep file to its end, then compare; host: names another machine", ArgsUsage: "FILE",
		Description: "Starts the server for each configuration, measures each level, proves the host clean, and\n" +
			"prints the comparison. What is there already (same ID, host and level) is reused. Ctrl-C\n" +
			"once stops and finishes the teardown; twice leaves at once. The same command goes on.\n\n" +
			"Where the file's host: is another machine, sweep moves itself there by SSH and runs there; the\n" +
			"link, this terminal and this machine may go meanwhile. Records come home as they are finished.\n\n" +
			"  sweep run sweeps/demo.yaml\n  sweep run --only parallel=tp8 night.yaml\n  sweep run --json night.yaml | jq .",
		Flags: append(append(append(planFlags(), flagFlags()...), dataFlag(), agentFlag(),
			&cli.BoolFlag{Name: "json", Usage: "events as JSON lines on stdout instead of text"},
			&cli.StringFlag{Name: "plan", Usage: "run this frozen `PLAN` (of plan --json; - for stdin) instead of a sweep file"},
			&cli.BoolFlag{Name: "here", Usage: "run on this machine, whatever host the file names"},
			&cli.BoolFlag{Name: "no-check", Usage: "on another host: start without looking first, as `sweep check` does"},
			&cli.BoolFlag{Name: "detach", Usage: "on another host: return once the night has started there"}), linkFlags()...),
		Action: func(c *cli.Context) error {
			plan, err := planOrFrozen(c, s)
			if err != nil {
				return err
			}
			if isAway(plan) && !c.Bool("here") {
				return runMoved(c, s, plan)
			}
			if c.Bool("detach") {
				return usage("--detach is for another host, and this night runs on this machine: start it in tmux or by `systemd-run --user`, or name a host in the file")
			}
			return runPlan(c, s, plan)
		},
	}
}

func runPlan(c *cli.Context, s streams, plan *sweep.Plan) error {
	secrets, err := readyToRun(c, s, plan)
	if err != nil {
		return err
	}
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	rt, err := runtimeFor(c.Context, plan.Runtime(), c.String("agent"))
	if err != nil {
		return err
	}
	screen := newScreen(s, c.Bool("json"))
	defer context.AfterFunc(c.Context, screen.stopping)()
	facts := runner.HostFacts(c.Context, runner.Local{})
	screen.expect(expectedTimes(c.Context, plan, dir, facts))
	outcome, err := runner.Night(c.Context, plan, runner.Options{Store: dir, Runtime: rt, Tools: toolsOf(c.Context, plan.Runtime()), StateDir: stateDir(),
		Command: runner.Local{}, Version: version(), Facts: facts, Watch: screen.event, Secrets: secrets, Others: otherRuntimes(c.Context, plan.Runtime())})
	screenErr := screen.close()
	if outcome.Night != "" && !c.Bool("json") {
		if reportErr := writeReport(dir, outcome.Night, nil, s.out, "text"); reportErr != nil && !outcome.Interrupted { // the reader may be why
			err = errors.Join(err, reportErr)
		}
		tell(s.err, afterNight(dir, outcome.Night))
	}
	if err != nil {
		return err
	}
	if outcome.Interrupted {
		fmt.Fprintln(s.err, "sweep: interrupted; the host is clean. The same command goes on.")
	}
	if screenErr != nil && !outcome.Interrupted {
		return fmt.Errorf("write the events: %w; everything is on disk, `sweep report` shows it", screenErr)
	}
	if code := outcome.Code(); code != exitOK {
		return silent(code)
	}
	return nil
}

// readyToRun refuses what cannot be run, says what a person should know of the
// plan, and takes its secrets from our own environment.
func readyToRun(c *cli.Context, s streams, plan *sweep.Plan) (secrets []string, err error) {
	if missing := plan.Unsupported(); len(missing) > 0 {
		return nil, usage("this build of sweep cannot run %s yet:\n  %s\n`sweep plan` shows what it would do", plan.File, strings.Join(missing, "\n  "))
	}
	if secrets, err = secretsOf(plan.Secrets); err != nil {
		return nil, err
	}
	if c.IsSet("plan") { // they were said where it was frozen
		return secrets, nil
	}
	for _, w := range plan.Warnings {
		if !strings.HasPrefix(w, notePrefix) {
			w = "warning: " + w
		}
		tell(s.err, "sweep: "+w)
	}
	return secrets, nil
}

// secretsOf takes the secrets that a plan names from our own environment.
func secretsOf(names []string) ([]string, error) {
	var secrets, missing []string
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			secrets = append(secrets, name+"="+value)
		} else {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return nil, usage("server.secrets: %s is not set in this environment: export it and run again", strings.Join(missing, ", "))
	}
	return secrets, nil
}

// readPlan reads the one sweep file a command was given, plans it and judges
// its flags.
func readPlan(c *cli.Context, s streams) (*sweep.Plan, error) {
	spec, plan, err := readUnchecked(c, s)
	if err != nil {
		return nil, err
	}
	return checkFlags(c, spec, plan)
}

// readUnchecked reads and plans it; its flags are not judged yet.
func readUnchecked(c *cli.Context, s streams) (*sweep.Spec, *sweep.Plan, error) {
	if c.NArg() != 1 {
		return nil, nil, usage("%s takes one sweep file, got %d; see `sweep %s --help`", c.Command.Name, c.NArg(), c.Command.Name)
	}
	name := c.Args().First()
	text, err := readFile(name, s.in)
	if err != nil {
		return nil, nil, err
	}
	spec, err := sweep.Decode(name, text)
	if err != nil {
		return nil, nil, err
	}
	if spec, err = onHost(spec, name); err != nil {
		return nil, nil, err
	}
	if c.IsSet("base-port") {
		spec.BasePort = c.Int("base-port")
	}
	plan, err := sweep.NewPlan(spec, sweep.PlanOptions{MaxConfigs: c.Int("max-configs"), Only: c.StringSlice("only")})
	return spec, plan, err
}
