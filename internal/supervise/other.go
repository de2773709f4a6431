//go:build !linux

package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

var errLinux = errors.New("holding processes needs Linux")

// Start needs Linux.
func Start(context.Context, string, Spec) (State, error) { return State{}, errLinux }

// Run needs Linux.
func Run(string) int {
	fmt.Fprintln(os.Stderr, "sweep supervise run:", errLinux)
	return 1
}

// Look needs Linux.
func Look(string) (State, error) { return State{}, errLinux }

// Stop needs Linux.
func Stop(context.Context, string, time.Duration) (State, error) { return State{}, errLinux }
