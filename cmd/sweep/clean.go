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
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "end and remove it"}, agentFlag(),
			&cli.StringFlag{Name: "called", Value: "local", Hidden: true}}, linkFlags()...), // what who asks from elsewhere calls this host
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 2:
				return usage("clean takes a host and a name, got %d words", c.NArg())
			case c.NArg() > 0 && c.Args().First() != "local":
				return cleanAway(c, s, c.Args().First(), c.Args().Get(1))
			}
			return cleanHere(c, s, c.Args().Get(1))
		},
	}
}

// cleanAway does the same on another host. Nothing is ended there while a night
// is under way.
func cleanAway(c *cli.Context, s streams, host, name string) error {
	place, err := arrive(c, s, host, hostsHere)
	if err != nil {
		return err
	}
	defer place.Close()
	args := []string{"clean", "--called", host}
	if c.Bool("yes") {
		if err := notBusy(c.Context, place, ""); err != nil {
			return err
		}
		args = append(args, "--yes")
	}
	args = append(args, "--", "local")
	if name != "" {
		args = append(args, name)
	}
	return sweepThere(c, s, place, args, nil)
}

func cleanHere(c *cli.Context, s streams, name string) error {
	yes := c.Bool("yes")
	present, blind := presentRuntimes(c.Context, c.String("agent"))
	found, err := runner.Clean(c.Context, present, stateDir(), name, !yes)
	if blind != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", runner.ErrHost, blind))
	}
	for _, in := range found {
		fmt.Fprintln(s.out, cleanLine(in, yes && (name != "" || !runner.Kept(in))))
	}
	if err != nil {
		return err
	}
	if text := cleanNext(found, c.String("called"), name, yes); text != "" {
		tell(s.out, text)
	}
	if !yes && runner.Busy(stateDir()) {
		tell(s.out, "a sweep runs on this host: what it uses is among these, and nothing is ended meanwhile")
	}
	return nil
}

// cleanNext says what can be done about what was found, "" when it is done.
// host is what this machine is called by who reads it.
func cleanNext(found []launch.Instance, host, name string, yes bool) string {
	command := "sweep clean"
	if host != "local" || name != "" {
		command += " " + shellWord(host)
	}
	switch {
	case len(found) == 0:
		return "nothing of sweep's is left on this host"
	case name != "" && yes:
		return ""
	case name != "":
		return fmt.Sprintf("`%s %s --yes` ends it", command, shellWord(name))
	case slices.ContainsFunc(found, runner.Kept):
		return fmt.Sprintf("what was launched to stay is ended only by its name: `sweep clean %s NAME --yes`", shellWord(host))
	case yes:
		return ""
	}
	return fmt.Sprintf("`%s --yes` ends it; `sweep run` of the same file goes on with it", command)
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
