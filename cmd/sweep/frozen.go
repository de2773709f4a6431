package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"sweep/internal/sweep"
)

// planOrFrozen is the plan of the sweep file that a command was given, or the
// frozen one that --plan names.
func planOrFrozen(c *cli.Context, s streams) (*sweep.Plan, error) {
	name := c.String("plan")
	if !c.IsSet("plan") {
		return readPlan(c, s)
	}
	if c.NArg() > 0 {
		return nil, usage("%s takes a sweep file or --plan PLAN, not both", c.Command.Name)
	}
	for _, flag := range []string{"only", "max-configs", "base-port", "sglang", "strict-flags", "drop-inert"} {
		if c.IsSet(flag) {
			return nil, usage("--%s changes a plan, and --plan is for one that is frozen: give it to `sweep plan --json`", flag)
		}
	}
	text, err := readFrozen(name, s.in)
	if err != nil {
		return nil, usage("read the frozen plan %s: %w", name, err)
	}
	if name == "-" {
		name = "the plan on standard input"
	}
	return sweep.ThawPlan(name, text)
}

func readFrozen(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("it is not a file")
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, sweep.MaxPlan+1))
	if err == nil && len(text) > sweep.MaxPlan {
		err = fmt.Errorf("it has more than %s", sizeText(sweep.MaxPlan))
	}
	return text, err
}
