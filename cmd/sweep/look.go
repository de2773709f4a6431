package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"sweep/internal/runner"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

func planCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "show what a sweep file would do, in order", ArgsUsage: "FILE",
		Description: "  sweep plan night.yaml\n  sweep plan --commands --only parallel=tp8 night.yaml   # ready to paste\n  sweep plan --json - < night.yaml",
		Flags: append(append(planFlags(), flagFlags()...), dataFlag(),
			&cli.StringFlag{Name: "deadline", Usage: "compare the estimate with this `time` and zone, \"07:00 Europe/Prague\"", DefaultText: "the file's night.deadline"},
			&cli.DurationFlag{Name: "start", Usage: "how long a start of the server takes, as `12m`", DefaultText: "as recorded, else assumed"},
			&cli.BoolFlag{Name: "all", Usage: "list every repeat and every dropped combination"},
			&cli.BoolFlag{Name: "commands", Usage: "print the exact command of each configuration"},
			&cli.BoolFlag{Name: "json", Usage: "the frozen plan as JSON"}),
		Action: func(c *cli.Context) error {
			deadline, err := deadlineFlag(c)
			if err != nil {
				return err
			}
			plan, err := readPlan(c, s)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(s.out, plan)
			}
			dir, err := oldStore(c, plan)
			if err != nil {
				return err
			}
			there, err := lookThere(c.Context, plan, dir)
			if err != nil {
				return err
			}
			return writePlan(s.out, plan, planTextOptions{Missing: there.Missing, There: there, Commands: c.Bool("commands"), All: c.Bool("all"),
				Only: c.IsSet("only"), Now: time.Now(), Deadline: deadline, Start: c.Duration("start"), Known: sweep.TimesOf(earlierRuns(dir, plan))})
		},
	}
}

// deadlineFlag reads --deadline, nil where it is not given.
func deadlineFlag(c *cli.Context) (*sweep.Deadline, error) {
	if !c.IsSet("deadline") {
		return nil, nil
	}
	d, err := sweep.ParseDeadline(c.String("deadline"))
	if err != nil {
		return nil, usage("--deadline: %w", err)
	}
	return &d, nil
}

// previewRuns bounds the plans whose runs are looked for on disk.
const previewRuns = 5000

// oldStore opens the data directory if it is there: a plan writes nothing. Nil
// where it is not, or where the plan is too large to look for all its runs.
func oldStore(c *cli.Context, plan *sweep.Plan) (*store.Dir, error) {
	if _, err := os.Stat(filepath.Join(dataDir(c), "runs")); err != nil || len(plan.Runs) > previewRuns {
		return nil, nil //nolint:nilerr // no data yet is no problem
	}
	return openStore(c)
}

// earlierRuns are the runs of a plan's configurations that are on disk; what
// cannot be read is left out, and so assumed.
func earlierRuns(dir *store.Dir, plan *sweep.Plan) []sweep.Run {
	if dir == nil {
		return nil
	}
	var runs []sweep.Run
	for _, c := range plan.Configurations {
		if some, _, err := dir.RunsOf(c.ID); err == nil {
			runs = append(runs, some...)
		}
	}
	return runs
}

// lookThere says what of a plan is there already, on this host; without a store
// nothing is, and Missing is nil.
func lookThere(ctx context.Context, plan *sweep.Plan, dir *store.Dir) (runner.Preview, error) {
	if dir == nil {
		return runner.Preview{}, nil
	}
	return runner.Look(ctx, plan, dir, runner.HostFacts(ctx, runner.Local{}))
}

func schemaCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of sweep files, for editors",
		Description: "  sweep schema > sweep.schema.json\n\nand as the first line of a sweep file:\n\n  # yaml-language-server: $schema=sweep.schema.json",
		Action: func(*cli.Context) error {
			_, err := s.out.Write(sweep.JSONSchema())
			return err
		},
	}
}

// textWidth is the width of the terminal behind w, 80 without one.
func textWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 40 {
			return width
		}
	}
	return 80
}

// useColor follows the NO_COLOR convention.
func useColor(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
