package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"sweep/internal/bench"
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
		Description: "Without a name: the last night.\n\n  sweep report\n  sweep report --only parallel=tp8\n  sweep report 20261201-0544 --format markdown > night.md",
		Flags:       []cli.Flag{onlyFlag(), dataFlag(), formatFlag()},
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
			if n, err := dir.OpenNight(name); err == nil && n.Namesakes() != "" {
				tell(s.err, "sweep: "+n.Namesakes())
			}
			return writeReport(dir, name, c.StringSlice("only"), s.out, c.String("format"))
		},
	}
}

func compareCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "lay runs, configurations or nights side by side", ArgsUsage: "A B [C…]",
		Description: "Everything is compared with A, level by level; different levels, tools and hosts are never merged.\n\n" +
			"A side is a night, a run, a configuration, or labels that configurations share.\n\n" +
			"  sweep compare parallel=tp8 parallel=tp4-pp2\n  sweep compare 20261201-0544 last --format markdown\n  sweep compare --only 'p2p=sys' 20261201-0544 last",
		Flags: []cli.Flag{onlyFlag(), dataFlag(), formatFlag()},
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
				name, runs, warn, err := findRunsSaying(dir, pattern, s.err)
				if err != nil {
					return err
				}
				warnings = append(warnings, warn...)
				sides = append(sides, report.Side{Name: name, Runs: runs})
				all = append(all, runs...)
			}
			sides, selection, err := report.NarrowSides(sides, c.StringSlice("only"))
			if err != nil {
				return &codeError{exitUsage, err}
			}
			in := report.ForRuns("comparison", sides, verdict.Judge(all, verdict.Limits{}))
			in.Selection = selection
			in.Warnings = append(in.Warnings, warnings...)
			return writeTable(report.Build(in), s.out, c.String("format"))
		},
	}
}

// findRuns loads the runs that a person means, with the full name of what was
// meant; what cannot be read comes back as warnings.
func findRuns(dir *store.Dir, pattern string) (string, []sweep.Run, []string, error) {
	return findRunsSaying(dir, pattern, io.Discard)
}

// findRunsSaying is findRuns; where several nights have the name, it says which
// one that is.
func findRunsSaying(dir *store.Dir, pattern string, says io.Writer) (string, []sweep.Run, []string, error) {
	match, problems, err := dir.FindRuns(pattern)
	if err != nil {
		return "", nil, nil, &codeError{exitUsage, err}
	}
	if match.Note != "" {
		tell(says, "sweep: "+match.Note)
	}
	var runs []sweep.Run
	for _, ref := range match.Runs {
		run, bad, err := dir.LoadRun(ref)
		if err != nil {
			return "", nil, nil, err
		}
		problems = append(problems, bad...)
		runs = append(runs, run)
	}
	return match.Name, runs, problemTexts(problems), nil
}

func problemTexts(problems []store.Problem) []string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return texts
}

// loadNight reads all that a report of one night is made of.
func loadNight(dir *store.Dir, name string) (report.Input, error) {
	n, err := dir.OpenNight(name)
	if err != nil {
		return report.Input{}, &codeError{exitUsage, err}
	}
	runs, problems, err := dir.NightRuns(n)
	if err != nil {
		return report.Input{}, err
	}
	events, _, err := n.Events()
	if err != nil {
		return report.Input{}, err
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
			problems = append(problems, recountGoodput(dir, run, plan.SLO)...)
			all = append(all, run)
		}
	}
	in := report.ForNight(n.ID(), plan, runs, reasons, verdict.Judge(all, verdict.Limits{}))
	in.Warnings = append(in.Warnings, problemTexts(problems)...)
	return in, nil
}

// recountGoodput counts the goodput of reused levels again where the night has
// other limits than the one that measured them.
func recountGoodput(dir *store.Dir, run sweep.Run, slo bench.SLO) []store.Problem {
	var problems []store.Problem
	for i := range run.Measurements {
		m := &run.Measurements[i]
		if m.SLO == slo {
			continue
		}
		requests, err := dir.Requests(store.RunRef{ID: run.ID, Run: run.Name}, m.Attempt, m.Key)
		if err != nil {
			problems = append(problems, store.Problem{Path: run.Name + " " + m.Level.String(), Text: "goodput is not known under this night's limits: " + err.Error()})
			m.SLO, m.Goodput, m.GoodputShare = slo, nil, nil
			continue
		}
		m.CountGoodput(slo, requests)
	}
	return problems
}

// writeReport writes the comparison of a night, of the configurations that only
// names, all without it.
func writeReport(dir *store.Dir, name string, only []string, w io.Writer, format string) error {
	in, err := loadNight(dir, name)
	if err != nil {
		return err
	}
	night := in.Night
	if in, err = in.Narrow(only); err != nil {
		return usage("night %s: %w", night, err)
	}
	return writeTable(report.Build(in), w, format)
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

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// afterNight says where a night's records are, and how to look at them again.
func afterNight(dir *store.Dir, night string) string {
	return fmt.Sprintf("sweep: records in %s; `sweep report %s` shows this again, `sweep show NAME` one configuration", dir.Path(), night)
}
