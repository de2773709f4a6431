package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
)

func cleanCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "clean", Usage: "show, or with --yes end, what a sweep that died left on this host",
		ArgsUsage: "[HOST [NAME]]",
		Description: "Only what sweep itself made is ever touched. HOST is another host, as a sweep file names it, or\n" +
			"local. A server that `sweep launch` left is ended only by its NAME.\n\n  sweep clean\n  sweep clean --yes\n  sweep clean rtx6k --yes\n  sweep clean local sweep-kept-c1a2b3c4d5 --yes",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "end and remove it"}, agentFlag()}, linkFlags()...),
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 2:
				return usage("clean takes a host and a name, got %d words", c.NArg())
			case c.NArg() > 0 && c.Args().First() != "local":
				args := []string{"clean", "local"}
				if name := c.Args().Get(1); name != "" {
					args = append(args, name)
				}
				if c.Bool("yes") {
					args = append(args, "--yes")
				}
				return forward(c, s, c.Args().First(), args, nil)
			}
			present, blind := presentRuntimes(c.Context, c.String("agent"))
			found, err := runner.Clean(c.Context, present, stateDir(), c.Args().Get(1), !c.Bool("yes"))
			if blind != nil {
				err = errors.Join(err, fmt.Errorf("%w: %w", runner.ErrHost, blind))
			}
			for _, in := range found {
				fmt.Fprintln(s.out, cleanLine(in, c.Bool("yes") && (c.NArg() > 1 || !runner.Kept(in))))
			}
			switch {
			case err != nil:
			case len(found) == 0:
				fmt.Fprintln(s.out, "nothing of sweep's is left on this host")
			case slices.ContainsFunc(found, runner.Kept) && (c.Args().Get(1) == "" || !c.Bool("yes")):
				tell(s.out, "what was launched to stay is ended only by its name: `sweep clean HOST NAME --yes`, HOST being local for this machine")
			case !c.Bool("yes"):
				fmt.Fprintln(s.out, "`sweep clean --yes` ends it; `sweep run` of the same file goes on with it")
			}
			return err
		},
	}
}

// cleanLine names one instance, where it is, and what it is from.
func cleanLine(in launch.Instance, ended bool) string {
	what, where := "found", ""
	if ended {
		what = "ended"
	}
	if runner.Kept(in) && !ended {
		what = "kept"
	}
	if in.Container != "" {
		where = " in container " + printable(in.Container)
	}
	if runner.Kept(in) {
		return fmt.Sprintf("%s %s%s (%s, launched %s)", what, printable(in.Name), where, printable(in.Labels["kept"]), in.Created.Format("2006-01-02 15:04"))
	}
	return fmt.Sprintf("%s %s%s (run %s of night %s)", what, printable(in.Name), where, printable(in.Labels["run"]), printable(in.Labels["sweep"]))
}
