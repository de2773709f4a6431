package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"sweep/internal/runner"
	"sweep/internal/sweep"
)

func planCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "show what a sweep file would do, in order", ArgsUsage: "FILE",
		Description: "  sweep plan night.yaml\n  sweep plan --commands --only parallel=tp8 night.yaml   # ready to paste\n  sweep plan --json - < night.yaml",
		Flags: append(append(planFlags(), flagFlags()...), dataFlag(),
			&cli.BoolFlag{Name: "commands", Usage: "print the exact command of each configuration"},
			&cli.BoolFlag{Name: "json", Usage: "the frozen plan as JSON"}),
		Action: func(c *cli.Context) error {
			plan, err := readPlan(c, s)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(s.out, plan)
			}
			if err := writePlan(s.out, plan, planTextOptions{Commands: c.Bool("commands")}); err != nil {
				return err
			}
			return writePreview(c, s.out, plan)
		},
	}
}

// previewRuns bounds the plans whose runs are looked for on disk.
const previewRuns = 5000

// writePreview says how much of a plan is there already, on this host. A plan
// writes nothing, so a data directory that is not there stays away.
func writePreview(c *cli.Context, w io.Writer, plan *sweep.Plan) error {
	if _, err := os.Stat(dataDir(c)); err != nil || len(plan.Runs) > previewRuns {
		return nil
	}
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	p, err := runner.Look(c.Context, plan, dir, runner.HostFacts(c.Context, runner.Local{}))
	if err != nil || p.Reused+p.Begun == 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "\nThere already, on this host: %d of %d runs whole, %d in part; %d levels are left to measure\n",
		p.Reused, len(plan.Runs), p.Begun, p.Levels)
	return err
}

func cleanCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "clean", Usage: "show, or with --yes end, what a sweep that died left on this host",
		Description: "Only what sweep itself made is ever touched.\n\n  sweep clean\n  sweep clean --yes",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "end and remove it"}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("cleaning another host is not supported yet: run `sweep clean` there")
			}
			rt, err := newRuntime("process")
			if err != nil {
				return err
			}
			found, err := runner.Clean(c.Context, rt, stateDir(), !c.Bool("yes"))
			for _, in := range found {
				what := "found"
				if c.Bool("yes") {
					what = "ended"
				}
				fmt.Fprintf(s.out, "%s %s (run %s of night %s)\n", what, in.Name, printable(in.Labels["run"]), printable(in.Labels["sweep"]))
			}
			switch {
			case err != nil:
			case len(found) == 0:
				fmt.Fprintln(s.out, "nothing of sweep's is left on this host")
			case !c.Bool("yes"):
				fmt.Fprintln(s.out, "`sweep clean --yes` ends it; `sweep run` of the same file goes on with it")
			}
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
