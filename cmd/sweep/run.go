package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

// maxFile bounds a sweep file, in bytes.
const maxFile = 1 << 20

func planFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "only", Usage: "only the configurations that `match`: axis=label,axis=label, or a name; given twice, either"},
		&cli.IntFlag{Name: "max-configs", Value: 500, Usage: "refuse a matrix with more configurations"},
		&cli.IntFlag{Name: "base-port", Usage: "first port of the plan, instead of the file's"},
	}
}

func runCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a sweep file to its end, then compare", ArgsUsage: "FILE",
		Description: "Starts the server for each configuration, measures each level, proves the host clean, and\n" +
			"prints the comparison. What is there already (same ID, host and level) is reused. Ctrl-C\n" +
			"once stops and finishes the teardown; twice leaves at once. The same command goes on.\n\n" +
			"  sweep run sweeps/demo.yaml\n  sweep run --only parallel=tp8 night.yaml\n  sweep run --json night.yaml | jq .",
		Flags: append(append(planFlags(), flagFlags()...), dataFlag(),
			&cli.BoolFlag{Name: "json", Usage: "events as JSON lines on stdout instead of text"}),
		Action: func(c *cli.Context) error {
			plan, err := readPlan(c, s)
			if err != nil {
				return err
			}
			return runPlan(c, s, plan)
		},
	}
}

func runPlan(c *cli.Context, s streams, plan *sweep.Plan) error {
	if missing := plan.Unsupported(); len(missing) > 0 {
		return usage("this build of sweep cannot run %s yet:\n  %s\n`sweep plan` shows what it would do", plan.File, strings.Join(missing, "\n  "))
	}
	secrets, err := secretsOf(plan)
	if err != nil {
		return err
	}
	for _, w := range plan.Warnings {
		if !strings.HasPrefix(w, notePrefix) {
			w = "warning: " + w
		}
		fmt.Fprintln(s.err, "sweep: "+printable(w))
	}
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	rt := launch.NewProcess(stateDir(), cacheDir())
	screen := newScreen(s, c.Bool("json"))
	defer context.AfterFunc(c.Context, screen.stopping)()
	facts := runner.HostFacts(c.Context, runner.Local{})
	outcome, err := runner.Night(c.Context, plan, runner.Options{Store: dir, Runtime: rt, StateDir: stateDir(),
		Command: runner.Local{}, Version: version(), Facts: facts, Watch: screen.event, Secrets: secrets})
	screenErr := screen.close()
	if outcome.Night != "" && !c.Bool("json") {
		if reportErr := writeReport(dir, outcome.Night, s.out, "text"); reportErr != nil && !outcome.Interrupted { // the reader may be why
			err = errors.Join(err, reportErr)
		}
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

// secretsOf takes the secrets that a plan names from our own environment.
func secretsOf(plan *sweep.Plan) ([]string, error) {
	var secrets, missing []string
	for _, name := range plan.Secrets {
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

// readPlan reads the one sweep file a command was given and plans it.
func readPlan(c *cli.Context, s streams) (*sweep.Plan, error) {
	if c.NArg() != 1 {
		return nil, usage("%s takes one sweep file, got %d; see `sweep %s --help`", c.Command.Name, c.NArg(), c.Command.Name)
	}
	name := c.Args().First()
	text, err := readFile(name, s.in)
	if err != nil {
		return nil, err
	}
	spec, err := sweep.Decode(name, text)
	if err != nil {
		return nil, err
	}
	if spec, err = onHost(spec, name); err != nil {
		return nil, err
	}
	if c.IsSet("base-port") {
		spec.BasePort = c.Int("base-port")
	}
	plan, err := sweep.NewPlan(spec, sweep.PlanOptions{MaxConfigs: c.Int("max-configs"), Only: c.StringSlice("only")})
	if err != nil {
		return nil, err
	}
	return checkFlags(c, spec, plan)
}

// readFile reads a sweep file, "-" being standard input.
func readFile(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, usage("read the sweep file: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, usage("read the sweep file: %s is not a file", name)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, usage("read the sweep file: %w", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, usage("read the sweep file %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, usage("%s is larger than %d bytes: this is not a sweep file", name, maxFile)
	}
	return text, nil
}
