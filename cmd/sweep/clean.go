package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
)

func cleanCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "clean", Usage: "show, or with --yes end, what a sweep that died left on this host",
		ArgsUsage:   "[HOST]",
		Description: "Only what sweep itself made is ever touched. HOST is another host, as a sweep file names it.\n\n  sweep clean\n  sweep clean --yes\n  sweep clean rtx6k --yes",
		Flags:       append([]cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "end and remove it"}, agentFlag()}, linkFlags()...),
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 1:
				return usage("clean takes one host, got %d", c.NArg())
			case c.NArg() == 1 && c.Args().First() != "local":
				args := []string{"clean"}
				if c.Bool("yes") {
					args = append(args, "--yes")
				}
				return forward(c, s, c.Args().First(), args, nil)
			}
			found, err := runner.Clean(c.Context, presentRuntimes(c.Context), stateDir(), !c.Bool("yes"))
			for _, in := range found {
				fmt.Fprintln(s.out, cleanLine(in, c.Bool("yes")))
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

// cleanLine names one instance, where it is, and what it is from.
func cleanLine(in launch.Instance, ended bool) string {
	what, where := "found", ""
	if ended {
		what = "ended"
	}
	if in.Container != "" {
		where = " in container " + printable(in.Container)
	}
	return fmt.Sprintf("%s %s%s (run %s of night %s)", what, printable(in.Name), where, printable(in.Labels["run"]), printable(in.Labels["sweep"]))
}
