package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"syscall"

	"sweep/internal/remote"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

// codeError is an error with the exit code it asks for. An empty text says
// that everything has been said already.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// usage is an error about how the command was called.
func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...)}
}

// silent ends with a code when the output has said why.
func silent(code int) error { return &codeError{code: code} }

// exitCode prints an error, once, and says how the program ends.
func exitCode(err error, w io.Writer) int {
	if err == nil {
		return exitOK
	}
	switch {
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "sweep: interrupted")
		return exitInterrupted
	}
	if text := err.Error(); text != "" {
		for i, line := range strings.Split("sweep: "+text, "\n") {
			if i > 0 && line == "" {
				continue
			}
			tell(w, line)
		}
	}
	var coded *codeError
	var file *sweep.FileError
	var frozen *sweep.PlanError
	var config *remote.ConfigError
	var dial *remote.DialError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &file), errors.As(err, &frozen), errors.As(err, &config):
		return exitUsage
	case errors.Is(err, runner.ErrHost), errors.As(err, &dial), errors.Is(err, remote.ErrLost):
		return exitHost
	default:
		return exitFailed
	}
}

// reportBug prints what a maintainer needs. Arguments are left out: they may
// hold secrets.
func reportBug(w io.Writer, p any) {
	fmt.Fprintf(w, "sweep: bug: %v\nThis is a fault of sweep %s; please report it with the lines below. What was measured is on disk; the same command goes on.\n%s",
		p, version(), debug.Stack())
}
