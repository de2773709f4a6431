package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"sweep/internal/runner"
)

func planCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "show what a sweep file would do, in order", ArgsUsage: "FILE",
		Description: "  sweep plan night.yaml\n  sweep plan --commands --only parallel=tp8 night.yaml   # ready to paste\n  sweep plan --json - < night.yaml",
		Flags: append(planFlags(),
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
			return writePlan(s.out, plan, planTextOptions{Commands: c.Bool("commands")})
		},
	}
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
			if len(found) == 0 && err == nil {
				fmt.Fprintln(s.out, "nothing of sweep's is left on this host")
			} else if !c.Bool("yes") {
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
