package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"sweep/internal/report"
	"sweep/internal/store"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// formatFlag chooses the form of a comparison.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: "text, markdown or json"}
}

func reportCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "the comparison of a night", ArgsUsage: "[NIGHT]",
		Description: "Without a name: the last night.\n\n  sweep report\n  sweep report 20261201-0544 --format markdown > night.md",
		Flags:       []cli.Flag{dataFlag(), formatFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage("report takes one night, got %d; `sweep compare` lays several side by side", c.NArg())
			}
			dir, err := openStore(c)
			if err != nil {
				return err
			}
			name := c.Args().First()
			if name == "" {
				name = "last"
			}
			return writeReport(dir, name, s.out, c.String("format"))
		},
	}
}

func compareCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "lay runs, configurations or nights side by side", ArgsUsage: "A B [C…]",
		Description: "Everything is compared with A, level by level; different levels, tools and hosts are never merged.\n\n" +
			"  sweep compare parallel=tp8 parallel=tp4-pp2\n  sweep compare 20261201-0544 last --format markdown",
		Flags: []cli.Flag{dataFlag(), formatFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() < 2 {
				return usage("compare takes two or more of: run, configuration (ID or name), night; `sweep ls` lists the nights")
			}
			dir, err := openStore(c)
			if err != nil {
				return err
			}
			var sides []report.Side
			var all []sweep.Run
			var warnings []string
			for _, pattern := range c.Args().Slice() {
				runs, warn, err := findRuns(dir, pattern)
				if err != nil {
					return err
				}
				warnings = append(warnings, warn...)
				sides = append(sides, report.Side{Name: pattern, Runs: runs})
				all = append(all, runs...)
			}
			in := report.ForRuns("comparison", sides, verdict.Judge(all, verdict.Limits{}))
			in.Warnings = append(in.Warnings, warnings...)
			return writeTable(report.Build(in), s.out, c.String("format"))
		},
	}
}

// findRuns loads the runs that a person means; what cannot be read comes back
// as warnings.
func findRuns(dir *store.Dir, pattern string) ([]sweep.Run, []string, error) {
	match, problems, err := dir.FindRuns(pattern)
	if err != nil {
		return nil, nil, &codeError{exitUsage, err}
	}
	var runs []sweep.Run
	for _, ref := range match.Runs {
		run, bad, err := dir.LoadRun(ref)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, bad...)
		runs = append(runs, run)
	}
	return runs, problemTexts(problems), nil
}

func problemTexts(problems []store.Problem) []string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return texts
}

// night is what a report of one night is made of.
type night struct {
	input    report.Input
	findings []verdict.Finding
	runs     map[int]sweep.Run
}

func loadNight(dir *store.Dir, name string) (night, error) {
	n, err := dir.OpenNight(name)
	if err != nil {
		return night{}, &codeError{exitUsage, err}
	}
	runs, problems, err := dir.NightRuns(n)
	if err != nil {
		return night{}, err
	}
	events, _, err := n.Events()
	if err != nil {
		return night{}, err
	}
	reasons := map[int]string{}
	for _, e := range events {
		if e.Type == store.RunSkipped {
			reasons[e.Ordinal] = e.Text
		}
	}
	plan := n.Plan()
	var all []sweep.Run
	for _, p := range plan.Runs {
		if run, ok := runs[p.Ordinal]; ok {
			all = append(all, run)
		}
	}
	findings := verdict.Judge(all, verdict.Limits{})
	in := report.ForNight(n.ID(), plan, runs, reasons, findings)
	in.Warnings = append(in.Warnings, problemTexts(problems)...)
	return night{input: in, findings: findings, runs: runs}, nil
}

func writeReport(dir *store.Dir, name string, w io.Writer, format string) error {
	n, err := loadNight(dir, name)
	if err != nil {
		return err
	}
	return writeTable(report.Build(n.input), w, format)
}

func writeTable(t report.Table, w io.Writer, format string) error {
	switch format {
	case "text":
		return t.Text(w, textOptions(w))
	case "markdown", "md":
		return t.Markdown(w)
	case "json":
		return t.JSON(w)
	default:
		return usage("--format is one of text, markdown, json, not %q", format)
	}
}

// invalidCount is how many measured levels of a night are invalid.
func invalidCount(dir *store.Dir, name string) (int, error) {
	n, err := loadNight(dir, name)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, run := range n.runs {
		for _, m := range run.Measurements {
			if verdict.Of(n.findings, run.Name, m.Key) == verdict.IsInvalid {
				count++
			}
		}
	}
	return count, nil
}

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
				fmt.Fprintln(s.err, "sweep: warning: "+printable(p.String()))
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
		}
		lines[i] = report.NightLine{ID: n.ID, Host: n.Host, Started: n.Started, Planned: n.Runs, Done: n.Done, Failed: n.Failed,
			State: state, Summary: n.Summary}
	}
	return lines
}

func textOptions(w io.Writer) report.TextOptions {
	return report.TextOptions{Width: textWidth(w), Color: useColor(w)}
}

func showCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "all that is known of a run", ArgsUsage: "RUN",
		Description: "RUN is the name of a run, of a configuration (its runs are shown one after the other), or a prefix.\n\n  sweep show parallel=tp8",
		Flags:       []cli.Flag{dataFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("show takes one run or configuration; `sweep ls` and `sweep report` name them")
			}
			dir, err := openStore(c)
			if err != nil {
				return err
			}
			runs, warnings, err := findRuns(dir, c.Args().First())
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintln(s.err, "sweep: warning: "+printable(w))
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

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
