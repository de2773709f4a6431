package runtimetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"sweep/internal/launch"
	"sweep/internal/supervise"
)

// Agent is the part of sweep that runs in instances, and what the checks need
// there besides: a binary that is given to a runtime under test calls it with
// its arguments. It returns when they are none of its own.
func Agent(args []string) {
	if len(args) == 0 {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch args[0] {
	case "supervise":
		os.Exit(supervise.Main(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "inside":
		os.Exit(launch.Inside(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "setsid": // which images need not have
		_, err := syscall.Setsid()
		path, lookErr := exec.LookPath(args[1])
		if err == nil && lookErr == nil {
			err = syscall.Exec(path, args[1:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, "setsid:", err, lookErr)
		os.Exit(1)
	}
}
