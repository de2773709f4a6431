package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/sweep"
)

// initTime bounds all questions to this machine: a driver that hangs must not
// keep anybody from a file with a TODO in it.
const initTime = 2 * time.Minute

const initFile = "sweep.yaml"

func initCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write a commented sweep file to start from", ArgsUsage: "[FILE|-]",
		Description: "Asks this machine, or --host over SSH, for its GPUs, its models (the Hugging Face cache, model-dirs of hosts.yaml)\n" +
			"and the Python that has sglang; what it does not find is a line with TODO. Without GPUs the\n" +
			"server is the simulated one. A file that is there is never overwritten.\n\n" +
			"  sweep init                      # " + initFile + "\n  sweep init --simulated demo.yaml\n  sweep init --host rtx6k -       # to the standard output",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "simulated", Usage: "for the simulated server, whatever GPUs there are"},
			&cli.StringFlag{Name: "host", Usage: "for another host, by its `alias` in hosts.yaml or ~/.ssh/config"},
			&cli.BoolFlag{Name: "tell", Hidden: true}, agentFlag(), // tell: answer a sweep elsewhere; see tellFindings
		}, linkFlags()...),
		Action: func(c *cli.Context) error {
			if c.Bool("tell") {
				return tellFindings(c.Context, s)
			}
			if c.NArg() > 1 {
				return usage("init takes one file, got %d; see `sweep init --help`", c.NArg())
			}
			if c.Bool("simulated") && c.IsSet("host") {
				return usage("--simulated and --host exclude each other: the simulated server needs no host")
			}
			return writeStarter(c, s, cmp.Or(c.Args().First(), initFile))
		},
	}
}

func writeStarter(c *cli.Context, s streams, file string) error {
	if _, err := os.Lstat(file); err == nil && file != "-" {
		return fileTaken(file)
	}
	start, err := askStarter(c, s, file)
	if err != nil {
		return err
	}
	text, err := start.text()
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = s.out.Write(text)
		return err
	}
	if err := createFile(file, text); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "wrote %s\n", printable(file))
	if start.Simulated != "" {
		fmt.Fprintf(s.out, "its server is the simulated one. %s\n", printable(start.Simulated))
	}
	if todo := bytes.Count(text, []byte("# TODO")); todo > 0 {
		fmt.Fprintf(s.out, "to fill in, marked TODO: %d\n", todo)
	}
	fmt.Fprintf(s.out, "next: sweep plan %s\n", shellWord(file))
	return nil
}

func askStarter(c *cli.Context, s streams, file string) (starter, error) {
	if c.Bool("simulated") {
		return simulatedStarter(file, "Without --simulated, `sweep init` asks this machine for its GPUs."), nil
	}
	host, err := initHost(file, c.String("host"))
	if err != nil {
		return starter{}, err
	}
	ctx, cancel := context.WithTimeout(c.Context, initTime)
	defer cancel()
	if host.Alias != "local" {
		return starterThere(ctx, c, s, file, host)
	}
	start := newStarter(ctx, file, host, whereToLook(host.ModelDirs))
	return start, c.Context.Err() // what was asked after Ctrl-C is not known
}

func fileTaken(file string) error {
	return usage("%s is there already, and init never overwrites a file: name another one, `sweep init FILE`", file)
}

// createFile writes a file that is not there yet.
func createFile(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fileTaken(name)
	case err != nil:
		return usage("write the sweep file: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the sweep file: %w", err), os.Remove(name))
	}
	return nil
}

// initHost is what hosts.yaml says of the host of an alias: it need not say
// anything.
func initHost(file, alias string) (sweep.Host, error) {
	hosts, err := hostsFor(initBeside(file))
	if err != nil {
		return sweep.Host{}, err
	}
	host, _, _ := hosts.Find(alias)
	host.Alias = cmp.Or(host.Alias, alias, "local")
	return host, nil
}

// initBeside is the file beside which hosts.yaml is looked for.
func initBeside(file string) string {
	if file == "-" {
		return hostsHere
	}
	return file
}
