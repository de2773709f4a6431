package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

func logsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "the server's log of a run; with -f as it grows", ArgsUsage: "RUN",
		Description: "RUN is the name of a run or of a configuration (its newest run), or a prefix. A run that is under\n" +
			"way is read where its server is; control characters are taken out.\n\n  sweep logs parallel=tp8\n  sweep logs -f last\n  sweep logs 20261201T0544 --host rtx6k -f",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on until the server ends"},
			&cli.IntFlag{Name: "attempt", Usage: "of this attempt", DefaultText: "the last"},
			&cli.StringFlag{Name: "host", Usage: "ask the sweep on another `HOST`, as a sweep file names it"}, dataFlag(), agentFlag()}, linkFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("logs takes one run or configuration; `sweep ls` and `sweep report` name them")
			}
			if host := c.String("host"); host != "" && host != "local" {
				return forward(c, s, host, logsArgs(c), nil)
			}
			return logs(c, s)
		},
	}
}

// logsArgs are the same words without the host.
func logsArgs(c *cli.Context) []string {
	args := []string{"logs", c.Args().First()}
	if c.Bool("follow") {
		args = append(args, "--follow")
	}
	if c.IsSet("attempt") {
		args = append(args, "--attempt", fmt.Sprint(c.Int("attempt")))
	}
	return args
}

func logs(c *cli.Context, s streams) error {
	dir, err := openStore(c)
	if err != nil {
		return err
	}
	_, runs, _, err := findRuns(dir, c.Args().First())
	if err != nil {
		return err
	}
	run := runs[len(runs)-1]
	if len(run.Records) == 0 {
		return usage("the run %s has no attempt yet", run.Name)
	}
	record := run.Records[len(run.Records)-1]
	if n := c.Int("attempt"); n != 0 {
		found := false
		for _, r := range run.Records {
			if r.Attempt == n {
				record, found = r, true
			}
		}
		if !found {
			return usage("the run %s has no attempt %d: it has %d", run.Name, n, len(run.Records))
		}
	}
	out := bufio.NewWriter(s.out)
	defer out.Flush()
	lines := &lineCleaner{to: out}
	path := filepath.Join(dir.AttemptDir(store.RunRef{ID: run.ID, Run: run.Name}, record.Attempt), "server.log")
	if record.Status == sweep.StatusRunning {
		if live, err := liveLog(c.Context, record, lines, out, c.Bool("follow")); live || err != nil {
			return err
		}
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return usage("the run %s has no server's log: no server was started in attempt %d", run.Name, record.Attempt)
	}
	if err != nil {
		return fmt.Errorf("read the log of run %s: %w", run.Name, err)
	}
	defer f.Close()
	if _, err := io.Copy(lines, f); err != nil {
		return err
	}
	return lines.flush()
}

// liveLog reads the log of a run that is under way where its server writes it;
// false when there is no such server on this host.
func liveLog(ctx context.Context, record sweep.Record, to *lineCleaner, out *bufio.Writer, follow bool) (bool, error) {
	present, _ := presentRuntimes(ctx, "") // it may be in one that can be looked into
	for _, rt := range present {
		rt = launch.Bounded(rt)
		instances, err := rt.List(ctx)
		if err != nil {
			continue // another runtime may have it
		}
		for _, in := range instances {
			if in.Labels["run"] != record.Run {
				continue
			}
			held, _, err := launch.Lookup(ctx, rt, in, runner.ServerID(record.Attempt))
			if err != nil {
				return false, fmt.Errorf("look for the server of run %s: %w", record.Run, err)
			}
			return true, tailHeld(ctx, held, to, out, follow)
		}
	}
	return false, nil
}

// lookEvery is how often a held process is looked at while its log is followed.
const lookEvery = 5 * time.Second

// tailHeld copies what a held process has written, and goes on until it ends
// or ctx does.
func tailHeld(ctx context.Context, held *launch.Held, to *lineCleaner, out *bufio.Writer, follow bool) error {
	looked := time.Now()
	for offset := int64(0); ; {
		exit, err := held.Exit(ctx) // before the read: what comes after the end is read too
		ended := exit != nil || errors.Is(err, launch.ErrGone)
		if !ended && time.Since(looked) > lookEvery { // one whose supervisor was killed never has an exit
			looked = time.Now()
			state, err := held.State(ctx)
			ended = err == nil && state.Alive == 0
		}
		chunk, err := held.Tail(ctx, offset)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if ended || ctx.Err() != nil {
				return to.flush()
			}
			return err
		}
		offset += int64(len(chunk))
		if _, err := to.Write(chunk); err != nil {
			return err
		}
		if len(chunk) > 0 {
			continue
		}
		if !follow || ended {
			return to.flush()
		}
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return to.flush()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// lineCleaner writes whole lines without what a terminal would act on.
type lineCleaner struct {
	to   io.Writer
	rest []byte
}

// maxLogLine bounds a line, in bytes: a longer one is broken.
const maxLogLine = 64 << 10

func (l *lineCleaner) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' || len(l.rest) >= maxLogLine {
			if _, err := fmt.Fprintln(l.to, printable(string(l.rest))); err != nil {
				return 0, err
			}
			l.rest = l.rest[:0]
		}
		if b != '\n' {
			l.rest = append(l.rest, b)
		}
	}
	return len(p), nil
}

func (l *lineCleaner) flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(l.to, printable(string(l.rest)))
	l.rest = nil
	return err
}
