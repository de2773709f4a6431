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
	_ "time/tzdata" // a static binary on a host without zone files still knows a deadline's zone
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
	bye := &farewell{text: "a server may still be up:\n`sweep clean` shows and ends it, the same `sweep run` goes on with it"}
	ctx, stop := context.WithCancelCause(context.WithValue(context.Background(), farewellKey{}, bye))
	go watchSignals(stop, bye)
	os.Exit(run(ctx, os.Args, streams{os.Stdin, os.Stdout, os.Stderr}))
}

// watchSignals makes the first signal a request to stop and tear down. Only a
// second Ctrl-C leaves at once: a closing terminal sends several hang-ups, a
// service manager repeats TERM. Who started us with nohup wants no hang-ups
// heard; whoever reads our output may go (`| head`), which is a reason to stop
// and tear down, not to die on the spot.
func watchSignals(stop context.CancelCauseFunc, bye *farewell) {
	heard := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		heard = append(heard, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, heard...)
	for interrupts := 0; ; {
		s := <-signals
		if s == syscall.SIGPIPE && !readerGone(1, 2) {
			continue // of some other connection
		}
		if s == os.Interrupt {
			interrupts++
		}
		stop(signalled{s})
		if interrupts == 2 {
			fmt.Fprintln(os.Stderr, "\nsweep: left at once; "+bye.say())
			os.Exit(exitInterrupted)
		}
	}
}

// run is the whole program around its streams, so that tests can call it.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = exitBug
			reportBug(s.err, p)
		}
	}()
	if err := findHome(); err != nil {
		return exitCode(err, s.err)
	}
	if len(args) >= 2 {
		if body, ok := rawCommands[args[1]]; ok {
			return body(ctx, args[2:], s)
		}
	}
	app := newApp(s)
	err := app.RunContext(ctx, reorder(app, args))
	return exitCode(err, s.err)
}
