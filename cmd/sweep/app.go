package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/sim"
	"sweep/internal/supervise"
)

// buildVersion is set by the release build.
var buildVersion string

// version of this binary: the release's, else the module's.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// rawCommands read their own arguments: sim takes sglang's flags, supervise is
// called by sweep itself.
var rawCommands = map[string]func(context.Context, []string, streams) int{
	"sim": func(ctx context.Context, args []string, s streams) int { return sim.Main(ctx, args, s.out, s.err) },
	"supervise": func(ctx context.Context, args []string, s streams) int {
		return supervise.Main(ctx, args, s.in, s.out, s.err)
	},
	"inside": func(ctx context.Context, args []string, s streams) int {
		return launch.Inside(ctx, args, s.in, s.out, s.err)
	},
	"facts": func(ctx context.Context, args []string, s streams) int {
		return check.Tell(ctx, args, s.in, s.out, s.err)
	},
}

func newApp(s streams) *cli.App {
	return &cli.App{
		Name:    "sweep",
		Usage:   "find the best server flags for a large model on your own GPU host, honestly",
		Version: version(),
		Description: unbroken("A YAML file declares a matrix of sglang flags and a ladder of load levels. sweep starts\n" +
			"the server for each configuration, waits until it really serves, measures it, stops it,\n" +
			"proves the host clean, and compares. `sweep run FILE` does it all; a second run of the\n" +
			"same file measures only what is missing.\n\n" +
			"Exit codes: 0 all valid or suspect; 1 some failed, invalid or not run; 2 usage or a bad\n" +
			"file; 3 the host is not fit; 4 a bug in sweep; 130 interrupted."),
		Reader: s.in, Writer: &helpWriter{out: s.out}, ErrWriter: s.err,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,                         // --only axis=a,axis=b is one selection
		ExitErrHandler:            func(*cli.Context, error) {}, // run prints and codes errors
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return misused("", []cli.Flag{cli.VersionFlag}, err) },
		CommandNotFound: func(c *cli.Context, name string) {
			fmt.Fprintln(c.App.ErrWriter, "sweep: "+noCommand(c.App, name).Error())
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return noCommand(c.App, c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: commands(s),
	}
}

func commands(s streams) []*cli.Command {
	list := []*cli.Command{
		initCommand(s), runCommand(s), planCommand(s), checkCommand(s), reportCommand(s), compareCommand(s), lsCommand(s), showCommand(s),
		attachCommand(s), statusCommand(s), stopCommand(s), logsCommand(s), launchCommand(s), benchCommand(s), cleanCommand(s), schemaCommand(s), completionCommand(s),
		{Name: "sim", Usage: "a simulated sglang server: starts from sglang's own flags", Description: "See `sweep sim --help`."},
		{Name: "supervise", Usage: "hold a process so that it outlives its starter (used by sweep itself)", Hidden: true},
		{Name: "version", Usage: "print the version", Action: func(*cli.Context) error {
			_, err := fmt.Fprintln(s.out, "sweep", version())
			return err
		}},
	}
	for _, c := range list {
		c.OnUsageError = func(c *cli.Context, err error, _ bool) error {
			return misused(c.Command.Name, c.Command.Flags, err)
		}
		c.Description = unbroken(c.Description)
		if _, raw := rawCommands[c.Name]; !raw && c.ArgsUsage == "" && c.Before == nil {
			c.Before = noArguments
		}
	}
	return list
}

// reorder moves the flags of a command before its arguments: urfave/cli stops
// reading flags at the first argument and would silently ignore the rest, so
// `sweep run a.yaml --json` would do something else than it says.
func reorder(app *cli.App, args []string) []string {
	if len(args) < 3 {
		return args
	}
	command := app.Command(args[1])
	if command == nil {
		return args
	}
	takesValue := map[string]bool{}
	for _, f := range command.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			takesValue[name] = !isBool
		}
	}
	var flags, rest []string
	for i := 2; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			rest = append(rest, a)
			continue
		}
		flags = append(flags, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if takesValue[name] && !hasValue && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	out := append(append([]string{}, args[:2]...), flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}
