// Command sweep finds out which server flags are best: it runs a matrix of
// them on a GPU host, measures each honestly, and compares.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, as in `sweep help`.
const (
	exitOK          = 0
	exitFailed      = 1 // some runs failed, are invalid, or were not run
	exitUsage       = 2 // usage, a bad file
	exitHost        = 3 // the host is not fit
	exitBug         = 4 // a bug in sweep
	exitInterrupted = 130
	exitPipe        = 141 // whoever read our output went away
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Whoever reads our output may go (`| head`): that is a reason to stop and
	// tear down, not to die on the spot.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	go func() {
		select {
		case <-signals:
		case <-pipe:
		}
		stop()
		<-signals
		fmt.Fprintln(os.Stderr, "\nsweep: left at once; a server may still be up:\n`sweep clean` shows and ends it, the same `sweep run` goes on with it")
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(ctx, os.Args, streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run is the whole program around its streams, so that tests can call it.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = exitBug
			reportBug(s.err, p)
		}
	}()
	if len(args) >= 2 {
		if body, ok := rawCommands[args[1]]; ok {
			return body(ctx, args[2:], s)
		}
	}
	app := newApp(s)
	err := app.RunContext(ctx, reorder(app, args))
	return exitCode(err, s.err)
}
