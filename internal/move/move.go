// Package move takes sweep to another host: it pushes this very program and a
// frozen plan there, starts the night held by `sweep supervise`, follows what
// it says, and brings its records home. The link may go at any time: the night
// goes on, and whoever attaches again goes on where they were.
//
//	there: CACHE/bin/sweep-<hash>              this program
//	       STATE/moved/<KEY>/plan.json         the frozen plan
//	       STATE/moved/<KEY>/held-<n>/         one start of it: output.log, exit.json, …
//	here:  STATE/moved/<KEY>.json              how to find it again; see Entry
//	       DATA/.incoming/<KEY>/               what is on its way home
package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"sweep/internal/remote"
)

// callTime bounds one short command on the host.
const callTime = time.Minute

// Options are how a host is reached.
type Options struct {
	Target           remote.Target
	Config           string // SSH configuration file; "": ~/.ssh/config
	AcceptNewHostKey bool
	Patience         time.Duration      // how long a lost link is tried to be made again; 0: remote's own
	Note             func(string)       // what happens by itself and a person should know
	Link             func(reason error) // why the link was lost, nil when it is back; see remote.Options
}

// Place is another host on which sweep can be run. It is safe for concurrent
// use.
type Place struct {
	host     *remote.Host
	reached  Options // how
	platform remote.Platform
	env      []string // NAME=VALUE that a sweep there is started with; no secrets
	data     string   // directories of sweep there
	state    string
	cache    string
	binary   string // this program, after Install
}

// Reach connects to a host and asks what it is. The error is a
// *remote.DialError where it cannot be reached.
func Reach(ctx context.Context, o Options) (*Place, error) {
	if _, err := os.Stat(o.Config); o.Config != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, &remote.ConfigError{Text: fmt.Sprintf("there is no SSH configuration %s: SWEEP_SSH_CONFIG names it, or named it when the night was started; correct or unset it", o.Config)}
	}
	settings, warnings, err := remote.Resolve(o.Target, remote.Local{Config: o.Config})
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", o.Target.Alias, err)
	}
	if o.Note != nil {
		for _, w := range warnings {
			o.Note(w.String())
		}
	}
	host, err := remote.Dial(ctx, settings, remote.Options{AcceptNewHostKey: o.AcceptNewHostKey, Patience: o.Patience, Log: o.logged(), Link: o.Link})
	if err != nil {
		return nil, err
	}
	p := &Place{host: host, reached: o}
	if err := p.look(ctx); err != nil {
		host.Close()
		return nil, err
	}
	return p, nil
}

// logged drops what Link tells better, where there is a Link.
func (o Options) logged() func(string) {
	if o.Link != nil {
		return nil
	}
	return o.Note
}

// Close ends the connection. What runs over there runs on.
func (p *Place) Close() error { return p.host.Close() }

// Name is how a person calls the host.
func (p *Place) Name() string { return p.host.Settings().Alias }

// Login is who we are there: "root@10.0.0.5".
func (p *Place) Login() string {
	s := p.host.Settings()
	text := s.User + "@" + s.Host
	if s.Port != 22 {
		text += fmt.Sprintf(":%d", s.Port)
	}
	if s.Sudo {
		text += ", by sudo"
	}
	return text
}

// Ahead is how far the host's clock is ahead of ours.
func (p *Place) Ahead() time.Duration { return p.platform.Clock }

// Sweep runs the program that Install pushed, with these arguments. The code is
// its exit code; -1 with an error of remote.Run.
func (p *Place) Sweep(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	return p.host.Run(ctx, p.command(args, stdin, stdout, stderr))
}

func (p *Place) command(args []string, stdin io.Reader, stdout, stderr io.Writer) remote.Cmd {
	return remote.Cmd{Argv: append([]string{p.binary}, args...), Env: p.env, Sudo: p.host.Settings().Sudo, Stdin: stdin, Stdout: stdout, Stderr: stderr}
}

// output is Sweep for a short answer.
func (p *Place) output(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return p.host.Output(ctx, p.command(args, stdin, nil, nil), 16<<20)
}

// remove takes a directory of ours on the host away.
func (p *Place) remove(ctx context.Context, dir string) error {
	if path.Base(path.Dir(dir)) != movedName {
		return fmt.Errorf("%s is not a directory of a moved night", dir)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := p.host.Output(ctx, remote.Cmd{Argv: []string{"rm", "-rf", "--", dir}, Sudo: p.host.Settings().Sudo}, 1<<10)
	return err
}
