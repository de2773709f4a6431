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
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/store"
	"sweep/internal/supervise"
	"sweep/internal/sweep"
)

func logsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "the server's log of a run; with -f as it grows", ArgsUsage: "RUN",
		Description: "RUN is the name of a run, of a configuration or of a night (the newest run counts), or a prefix. A run\n" +
			"that is under way is read where its server is, also on another host; control characters are taken out.\n\n  sweep logs parallel=tp8\n  sweep logs -f last\n  sweep logs 20261201T0544 --host rtx6k -f",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on until the server ends; between two runs, wait for the next one"},
			&cli.IntFlag{Name: "attempt", Usage: "of this attempt", DefaultText: "the last"},
			&cli.StringFlag{Name: "host", Usage: "ask the sweep on another `HOST`, as a sweep file names it"}, dataFlag(), agentFlag()}, linkFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("logs takes one run or configuration; `sweep ls` and `sweep report` name them")
			}
			if host := c.String("host"); host != "" && host != "local" {
				return forward(c, s, host, logsArgs(c, c.Args().First()), nil)
			}
			return logs(c, s)
		},
	}
}

// logsArgs are the same words without the host.
func logsArgs(c *cli.Context, name string) []string {
	args := []string{"logs", name}
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
	name := c.Args().First()
	entry, err := movedLog(dir, name)
	if err != nil {
		return err
	}
	if entry != nil {
		return logsThere(c, s, entry, name)
	}
	return logsHere(c, s, dir, name)
}

// logsEvery is how often the next server of a night is looked for.
const logsEvery = 500 * time.Millisecond

// logsHere prints the log of the newest attempt that is meant. With --follow it
// waits for the next one while a night is under way that has one to come.
func logsHere(c *cli.Context, s streams, dir *store.Dir, name string) error {
	out := bufio.NewWriter(s.out)
	defer out.Flush()
	var first *sweep.Record // what was the newest when the waiting began
	for waited := false; ; waited = true {
		record, err := newestAttempt(dir, name, c.Int("attempt"))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		next, nightErr := nextOf(dir, name)
		if nightErr != nil {
			return nightErr
		}
		var notYet error
		if record != nil && record.Status == sweep.StatusRunning {
			live, err := liveLog(c.Context, s, *record, out, c.Bool("follow"))
			if live || c.Context.Err() != nil {
				return err
			}
			notYet = err
		}
		fresh := waited && record != nil && record.Ended != nil && (first == nil || record.Run != first.Run || record.Attempt != first.Attempt || first.Ended == nil)
		switch {
		case next == "" && waited && !fresh:
			tell(s.err, "sweep: the night has ended, and no further server was started")
			return nil
		case next == "" || fresh || c.IsSet("attempt") || !c.Bool("follow") && record != nil:
			if err != nil {
				return err
			}
			if record == nil {
				return usage("the run %s has no attempt yet", name)
			}
			return oldLog(s, dir, *record, out, notYet)
		case !c.Bool("follow"):
			return &codeError{exitFailed, fmt.Errorf("no server of %s was started yet in night %s, which is under way; with -f its log is waited for", name, next)}
		}
		if !waited {
			first = record
			tell(s.err, fmt.Sprintf("sweep: night %s has no server of %s up just now: waiting for the next one (Ctrl-C leaves)", next, printable(name)))
		}
		if !pauseFor(c.Context, logsEvery) {
			return silent(exitInterrupted)
		}
	}
}

// oldLog prints the log that an attempt left on disk, and whose it is.
func oldLog(s streams, dir *store.Dir, record sweep.Record, out *bufio.Writer, notLive error) error {
	ended := "cut off"
	if record.Ended != nil {
		ended = "ended " + dayTime(*record.Ended, time.Now())
	} else if notLive != nil {
		return &codeError{exitFailed, fmt.Errorf("the server of run %s, attempt %d, cannot be asked just now: %s", record.Run, record.Attempt, printable(firstLine(notLive.Error())))}
	}
	path := filepath.Join(dir.AttemptDir(store.RunRef{ID: record.Configuration.ID, Run: record.Run}, record.Attempt), "server.log")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && record.Ended == nil {
		return &codeError{exitFailed, fmt.Errorf("the run %s has no server's log yet in attempt %d", record.Run, record.Attempt)}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return usage("the run %s has no server's log: no server was started in attempt %d", record.Run, record.Attempt)
	}
	if err != nil {
		return fmt.Errorf("read the log of run %s: %w", record.Run, err)
	}
	defer f.Close()
	tell(s.err, logHead(record)+", "+ended)
	lines := &lineCleaner{to: out}
	if _, err := io.Copy(lines, f); err != nil {
		return err
	}
	return lines.flush()
}

// logHead says whose log it is.
func logHead(r sweep.Record) string {
	return fmt.Sprintf("sweep: run %s of %s, attempt %d, night %s", printable(r.Run), printable(r.Configuration.Name), r.Attempt, printable(r.Sweep))
}

// dayTime is a time of today as 15:04, with the date otherwise.
func dayTime(at, now time.Time) string {
	if at.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly) {
		return at.Local().Format("15:04")
	}
	return at.Local().Format("2006-01-02 15:04")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// liveLog reads the log of a run that is under way where its server writes it;
// false when there is no such server on this host, or none yet.
func liveLog(ctx context.Context, s streams, record sweep.Record, out *bufio.Writer, follow bool) (bool, error) {
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
			held, state, err := launch.Lookup(ctx, rt, in, runner.ServerID(record.Attempt))
			if err != nil {
				return false, fmt.Errorf("look for the server of run %s: %w", record.Run, err)
			}
			if state.Phase == supervise.Absent {
				continue // it is about to be started, or was ended
			}
			tell(s.err, logHead(record)+", under way")
			return true, tailHeld(ctx, held, &lineCleaner{to: out}, out, follow)
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
			ended = err == nil && state.Alive == 0 || errors.Is(err, fs.ErrNotExist)
		}
		chunk, err := held.Tail(ctx, offset)
		if offset > 0 && errors.Is(err, fs.ErrNotExist) {
			ended = true // its instance was removed meanwhile
		}
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
