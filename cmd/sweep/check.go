package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

func checkCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "look whether host, container, GPUs, model and sglang are fit for a night", ArgsUsage: "FILE",
		Description: "Leaves nothing but its program and takes seconds, mostly: container tool, locks, GPUs, limits, disks, the model\n" +
			"and all its shards, the interpreter and its sglang, each flag, ports. A fresh container is made\n" +
			"once and removed. Exit 1 when something would fail.\n\n" +
			"  sweep check night.yaml\n  sweep check --json night.yaml | jq '.results[] | select(.grade != \"ok\")'\n" +
			"  sweep check --plan - --json < plan.json      # a frozen plan, on the host itself",
		Flags: append(append(planFlags(), dataFlag(), agentFlag(),
			&cli.StringFlag{Name: "plan", Usage: "check a frozen plan, a `FILE` that `sweep plan --json` wrote (- is standard input)"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "only what to mend and what to look at"},
			&cli.BoolFlag{Name: "json", Usage: "the report as JSON"}), linkFlags()...),
		Action: func(c *cli.Context) error {
			plan, err := planToCheck(c, s)
			if err != nil {
				return err
			}
			if isAway(plan) && !c.IsSet("plan") {
				return checkAway(c, s, plan)
			}
			return checkHere(c, s, plan)
		},
	}
}

// checkAway checks a plan on the host that it names: SSH is the first item,
// secrets are looked for here.
func checkAway(c *cli.Context, s streams, plan *sweep.Plan) error {
	if _, err := secretsOf(plan.Secrets); err != nil {
		return err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	args := []string{"check", "--plan", "-"}
	for _, name := range []string{"quiet", "json"} {
		if c.Bool(name) {
			args = append(args, "--"+name)
		}
	}
	place, err := arrive(c, s, plan.Host, plan.File)
	if err != nil {
		return err
	}
	defer place.Close()
	sayClock(s, place)
	return sweepThere(c, s, place, args, bytes.NewReader(text))
}

// lookPatience is how long a person waits before being told what takes so long.
const lookPatience = 4 * time.Second

// checkHere checks a plan on this machine.
func checkHere(c *cli.Context, s streams, plan *sweep.Plan) error {
	o := check.Options{
		Runtime: func(ctx context.Context) (launch.Runtime, error) {
			return runtimeFor(ctx, plan.Runtime(), c.String("agent"))
		},
		Tools: toolsOf(c.Context, plan.Runtime()), Command: check.Local{},
		LockPath: runner.LockPath(stateDir()), StateDir: stateDir(), DataDir: dataDir(c), Kept: runner.Kept,
		Others: func(ctx context.Context) []launch.Runtime { return otherRuntimes(ctx, plan.Runtime()) },
	}
	if !c.IsSet("plan") { // one that came from elsewhere is brought its secrets later
		o.HasSecret = func(name string) bool { _, set := os.LookupEnv(name); return set }
	}
	patience := time.AfterFunc(lookPatience, func() {
		fmt.Fprintln(s.err, "sweep: still looking: importing sglang takes its time, and so does making a container of a large image")
	})
	defer patience.Stop()
	report, err := check.Run(c.Context, plan, o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = writeJSON(s.out, report)
	} else {
		err = writeCheck(s.out, report, c.Bool("quiet"))
	}
	if err != nil {
		return err
	}
	if report.Fails > 0 {
		return silent(exitFailed)
	}
	return nil
}

// planToCheck is the plan of a sweep file, its flags not judged yet, or a
// frozen one.
func planToCheck(c *cli.Context, s streams) (*sweep.Plan, error) {
	if c.IsSet("plan") {
		return planOrFrozen(c, s)
	}
	_, plan, err := readUnchecked(c, s)
	return plan, err
}
