package main

import (
	"cmp"
	"io"

	"github.com/urfave/cli/v2"

	"sweep/internal/report"
	"sweep/internal/store"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

func lsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "ls", Usage: "the nights so far",
		Flags: []cli.Flag{dataFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			dir, err := openStore(c)
			if err != nil {
				return err
			}
			nights, problems, err := dir.Nights()
			if err != nil {
				return err
			}
			for _, p := range problems {
				tell(s.err, "sweep: warning: "+p.String())
			}
			if c.Bool("json") {
				return writeJSON(s.out, nights)
			}
			return report.List(s.out, nightLines(nights), textOptions(s.out))
		},
	}
}

func nightLines(nights []store.NightInfo) []report.NightLine {
	lines := make([]report.NightLine, len(nights))
	for i, n := range nights {
		state := "unfinished"
		if n.Finished {
			state = "finished"
			if n.Failed > 0 {
				state = "finished, with failures"
			}
		}
		var failures []string
		for _, f := range n.Failures {
			failures = append(failures, cmp.Or(f.Name, "a run")+": "+cmp.Or(f.Cause, "why is not in the journal, `sweep report` may know"))
		}
		lines[i] = report.NightLine{ID: n.ID, Host: n.Host, Started: n.Started, Planned: n.Runs, Done: n.Done, Failed: n.Failed, Invalid: n.Invalid,
			State: state, Summary: n.Summary, Failures: failures}
	}
	return lines
}

func textOptions(w io.Writer) report.TextOptions {
	return report.TextOptions{Width: textWidth(w), Color: useColor(w)}
}

func showCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "all that is known of a run", ArgsUsage: "RUN",
		Description: "RUN is the name of a run, of a configuration (its runs are shown one after the other), or a prefix.\n\n  sweep show parallel=tp8\n  sweep show last --only parallel=tp8",
		Flags:       []cli.Flag{onlyFlag(), dataFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("show takes one run or configuration; `sweep ls` and `sweep report` name them")
			}
			dir, err := openStore(c)
			if err != nil {
				return err
			}
			name, runs, warnings, err := findRunsSaying(dir, c.Args().First(), s.err)
			if err != nil {
				return err
			}
			sides, selection, err := report.NarrowSides([]report.Side{{Name: name, Runs: runs}}, c.StringSlice("only"))
			if err != nil {
				return &codeError{exitUsage, err}
			}
			runs = sides[0].Runs
			if selection != nil { // apart from the runs, which may be JSON
				tell(s.err, "sweep: showing "+selection.String())
			}
			for _, w := range warnings {
				tell(s.err, "sweep: warning: "+w)
			}
			if c.Bool("json") {
				return writeJSON(s.out, runs)
			}
			for _, run := range runs {
				if err := report.RunText(s.out, run, verdict.Judge([]sweep.Run{run}, verdict.Limits{}), textOptions(s.out)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
