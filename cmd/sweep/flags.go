package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func flagFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "sglang", Usage: "judge flags by the list of this `version` of sglang", DefaultText: "ask the installed one, else the newest known"},
		&cli.BoolFlag{Name: "strict-flags", Usage: "a flag or choice that the list does not know is an error, not a warning"},
		&cli.BoolFlag{Name: "drop-inert", Usage: "leave out configurations that differ only in flags which do nothing"},
	}
}

// checkFlags judges the flags of a plan before anything starts, and says or
// drops what would only measure the same server twice.
func checkFlags(c *cli.Context, spec *sweep.Spec, plan *sweep.Plan) (*sweep.Plan, error) {
	list, err := flagList(c, plan)
	if err != nil {
		return nil, err
	}
	report := sweep.CheckFlags(plan, list, sweep.FlagCheck{GPUs: plan.GPUs, KVTokens: poolTokens(c, plan), Strict: c.Bool("strict-flags") || exactList(plan)})
	if err := report.Err(spec); err != nil {
		return nil, err
	}
	warnings := sweep.ProblemTexts(plan.File, report.Warnings)
	if groups := sweep.InertGroups(plan, list); len(groups) > 0 {
		if c.Bool("drop-inert") {
			plan = plan.DropInert(list)
		} else {
			warnings = append(warnings, sweep.InertText(groups))
		}
	}
	for _, note := range sweep.ProblemTexts(plan.File, report.Notes) {
		warnings = append(warnings, notePrefix+strings.Replace(note, " in "+list.Source(), "", 1)) // said once, below
	}
	if len(warnings) > 0 {
		warnings = append(warnings, notePrefix+"flags were judged by "+list.Source())
	}
	plan.Warnings = append(plan.Warnings, warnings...)
	return plan, nil
}

// poolTokens are the tokens that the KV pool of a configuration held at its last
// start, by ID; none where no start is on record. Nothing is written, and what
// cannot be read is not known.
func poolTokens(c *cli.Context, plan *sweep.Plan) map[string]int {
	dir, err := oldStore(c, plan)
	if err != nil {
		return nil
	}
	tokens := map[string]int{}
	for _, run := range earlierRuns(dir, plan) { // oldest first
		for _, r := range run.Records {
			if s := r.Fingerprint.Server; s != nil && s.MaxTotalTokens != nil {
				tokens[run.ID] = *s.MaxTotalTokens
			}
		}
	}
	return tokens
}

// exactList tells whether the server is the simulator, whose flags are exactly
// those of its list: what the list does not know, it refuses.
func exactList(plan *sweep.Plan) bool {
	for _, c := range plan.Configurations {
		if c.Command[0] != "sweep" {
			return false
		}
	}
	return true
}

// flagList is the list of the version that was named, else of the sglang that
// is installed where the server will run, else the newest that is known.
func flagList(c *cli.Context, plan *sweep.Plan) (*sglang.FlagSet, error) {
	if version := c.String("sglang"); version != "" {
		list, _ := sglang.Flags(version)
		return list, nil
	}
	first := plan.Configurations[0]
	if first.Command[0] == "sweep" {
		list, _ := sglang.Flags(simVersion(first.Command))
		return list, nil
	}
	local := (plan.Host == "" || plan.Host == "local") && first.Container.Runtime == sweep.RuntimeProcess
	if local && strings.HasPrefix(filepath.Base(first.Command[0]), "python") {
		if list := installedFlags(c.Context, first); list != nil {
			return list, nil
		}
	}
	list, _ := sglang.Flags("")
	return list, nil
}

// simVersion is the version that the simulator was told to be, "" for its own.
func simVersion(command []string) string {
	for i, word := range command {
		if word == "--sglang-version" && i+1 < len(command) {
			return command[i+1]
		}
	}
	return simDefault
}

// simDefault is the version the simulator is without being told.
const simDefault = "0.5.10.post1"

// installedFlags asks the installed sglang for its argument parser, once for
// each version: the answer is cached. Nil where there is none to ask.
func installedFlags(ctx context.Context, config sweep.Configuration) *sglang.FlagSet {
	versions := check.Packages(ctx, config)
	if versions["sglang"] == "" {
		return nil
	}
	key := sha256.Sum256([]byte(config.Command[0] + "\x00" + versions["sglang"]))
	path := filepath.Join(cacheDir(), "flags", fmt.Sprintf("%x.json", key[:8]))
	if text, err := os.ReadFile(path); err == nil {
		if list, err := sglang.ParseFlagDump(text); err == nil {
			return list
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sglang.DumpTimeout)
	defer cancel()
	ask, err := launch.BareCommand(ctx, sglang.DumpCommand(config.Command[0]), config.Environ())
	if err != nil {
		return nil
	}
	text, err := ask.Output()
	if err != nil {
		return nil
	}
	list, err := sglang.ParseFlagDump(text)
	if err != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), fs.FileMode(0o700)); err == nil {
		_ = renameio.WriteFile(path, text, 0o600) // it is asked again where it cannot be kept
	}
	return list
}
