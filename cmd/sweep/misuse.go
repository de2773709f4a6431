package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"sweep/internal/matrix"
)

// What the flag package says of a command line.
var (
	unknownFlag  = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	withoutValue = regexp.MustCompile(`^flag needs an argument: -+(.*)$`)
	badValue     = regexp.MustCompile(`^(?:invalid value|invalid boolean value) "(.*)" for (?:flag )?-+([^:]*): (.*)$`)
)

// misused says what is wrong with the flags of a command, "" for sweep itself,
// as a person wrote them.
func misused(command string, flags []cli.Flag, err error) error {
	command = strings.TrimSpace("sweep " + command)
	see := fmt.Sprintf("`%s --help` lists them", command)
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		hint := see
		if near := matrix.Near(m[1], flagNames(flags)); near != "" {
			hint = "did you mean --" + near + "?"
		}
		return usage("%s has no flag --%s: %s", command, m[1], hint)
	}
	if m := withoutValue.FindStringSubmatch(text); m != nil {
		return usage("--%s needs a value: %s", m[1], see)
	}
	if m := badValue.FindStringSubmatch(text); m != nil {
		return usage("--%s takes %s, not %q", m[2], takes(flags, m[2]), m[1])
	}
	return usage("%w; see `%s --help`", err, command)
}

func flagNames(flags []cli.Flag) []string {
	names := []string{"help"}
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return names
}

// takes says what kind of value a flag has.
func takes(flags []cli.Flag, name string) string {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n != name {
				continue
			}
			switch f.(type) {
			case *cli.BoolFlag:
				return "no value, or true or false"
			case *cli.IntFlag, *cli.Int64Flag, *cli.UintFlag, *cli.IntSliceFlag:
				return "a whole number"
			case *cli.Float64Flag:
				return "a number"
			case *cli.DurationFlag:
				return "a duration such as 90s or 45m"
			}
		}
	}
	return "another kind of value"
}

// noCommand says that there is no such command, and which one is near.
func noCommand(app *cli.App, name string) error {
	var names []string
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	hint := "`sweep help` lists them"
	if near := matrix.Near(name, names); near != "" {
		hint = "did you mean `sweep " + near + "`?"
	}
	return usage("there is no command %q: %s", name, hint)
}

// noArguments refuses what a command without arguments would ignore.
func noArguments(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	return usage("%s takes no argument, and was given %q; see `sweep %s --help`", c.Command.Name, strings.Join(c.Args().Slice(), " "), c.Command.Name)
}
