package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/urfave/cli/v2"

	"sweep/internal/move"
	"sweep/internal/remote"
)

// statusTime bounds how long a host may take to answer.
const statusTime = 20 * time.Second

func statusCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "the nights under way, here and on other hosts",
		Description: "Each host is asked at the same time; one that does not answer is said to be unreachable.\n\n  sweep status\n  sweep status --json | jq .",
		Flags: []cli.Flag{dataFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "here", Usage: "only those that run on this machine"}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("status takes no argument; `sweep attach %s` follows one night", c.Args().First())
			}
			nights, err := hereNow(c)
			if err != nil {
				return err
			}
			if !c.Bool("here") {
				there, problems, err := thereNow(c)
				if err != nil {
					return err
				}
				for _, p := range problems {
					fmt.Fprintln(s.err, "sweep: warning: "+printable(p))
				}
				nights = append(nights, there...)
			}
			if c.Bool("json") {
				return writeJSON(s.out, nights)
			}
			return writeStatus(s.out, nights, textWidth(s.out))
		},
	}
}

// hereNow are the nights that run on this machine; never nil.
func hereNow(c *cli.Context) ([]nightStatus, error) {
	list := []nightStatus{}
	dir, err := openStore(c)
	if err != nil {
		return nil, err
	}
	nights, err := underWay(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range nights {
		status, err := statusOf(dir, n, time.Now())
		if err != nil {
			return nil, err
		}
		list = append(list, status)
	}
	return list, nil
}

// thereNow are the nights on other hosts that are not over and at home.
func thereNow(c *cli.Context) ([]nightStatus, []string, error) {
	entries, problems, err := registry().List()
	if err != nil {
		return nil, nil, err
	}
	var open []*move.Entry
	for _, e := range entries {
		if !e.Ended {
			open = append(open, e)
		}
	}
	list := make([]nightStatus, len(open))
	var all sync.WaitGroup
	for i, e := range open {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(c.Context, statusTime)
			defer cancel()
			list[i] = askThere(ctx, e)
		})
	}
	all.Wait()
	return list, problems, c.Context.Err()
}

// askThere asks the host of a moved night how it stands.
func askThere(ctx context.Context, e *move.Entry) nightStatus {
	s := nightStatus{Night: e.Night, Key: e.Key, Name: e.Name, Host: e.Alias, Runs: e.Runs, Started: e.Started, PlanHash: e.PlanHash}
	away := func(err error) nightStatus {
		s.State, s.Note = stateUnreachable, err.Error()
		if ctx.Err() != nil {
			s.Note = fmt.Sprintf("no answer within %s", short(statusTime))
		}
		return s
	}
	place, err := reachPlainly(ctx, e)
	if err != nil {
		return away(err)
	}
	defer place.Close()
	place.Use(e.Binary)
	state, err := place.State(ctx, e)
	var missing *remote.ExitError
	switch {
	case errors.As(err, &missing):
		s.State, s.Note = stateCutOff, fmt.Sprintf("%v; `sweep attach %s` looks closer", err, e.Handle())
		return s
	case err != nil:
		return away(err)
	case move.Over(state):
		if why := place.CutOff(e, state); why != "" {
			s.State, s.Note = stateCutOff, fmt.Sprintf("%s; `sweep attach %s` goes on with it", why, e.Handle())
		} else {
			s.State, s.Note = stateEnded, fmt.Sprintf("exit code %d; `sweep attach %s` brings its records home", *state.Exit.Code, e.Handle())
		}
		return s
	}
	s.State = stateRunning
	nights, err := nightsThere(ctx, place)
	if err != nil {
		return away(err)
	}
	for _, n := range nights {
		if n.Night == e.Night || e.Night == "" && n.PlanHash == e.PlanHash {
			n.Key, n.Host = e.Key, e.Alias
			return n
		}
	}
	return s
}

// reachPlainly connects to the host of a moved night without telling of it.
func reachPlainly(ctx context.Context, e *move.Entry) (*move.Place, error) {
	return move.Reach(ctx, move.Options{Target: e.Target(), Config: sshConfig(e.SSHConfig), Patience: statusTime})
}

// writeStatus writes a line a night, and what there is to know below it.
func writeStatus(w io.Writer, nights []nightStatus, width int) error {
	if len(nights) == 0 {
		_, err := fmt.Fprintln(w, "no night is under way; `sweep ls` lists those that were")
		return err
	}
	for _, n := range nights {
		name := n.Night
		if name == "" {
			name = n.Key
		}
		parts := []string{printable(name), printable(n.Host), n.State}
		if n.Run > 0 {
			parts = append(parts, fmt.Sprintf("[%d/%d] %s", n.Run, n.Runs, printable(n.Now)))
		} else {
			parts = append(parts, runsText(n.Runs))
		}
		if n.Left != "" {
			parts = append(parts, printable(n.Left))
		}
		if n.Config != "" {
			parts = append(parts, printable(n.Config))
		}
		if _, err := fmt.Fprintln(w, runewidth.Truncate(strings.Join(parts, " · "), max(width, 60), "…")); err != nil {
			return err
		}
		for i, line := range wrap(printable(n.Note), width-4) {
			if line == "" || i > 5 {
				break
			}
			if _, err := fmt.Fprintln(w, "    "+line); err != nil {
				return err
			}
		}
	}
	return nil
}
