package main

import (
	"context"
	"errors"
	"os"
	"sync"
)

// signalled is why a command was asked to stop: by which signal.
type signalled struct{ signal os.Signal }

func (s signalled) Error() string { return "stopped by " + s.signal.String() }

// Is makes it one of the ways in which a context is cancelled.
func (s signalled) Is(target error) bool { return target == context.Canceled }

// byHand tells whether a person pressed Ctrl-C. A closing terminal, a service
// manager and a reader that went away are no wish about a night elsewhere.
func byHand(ctx context.Context) bool {
	var s signalled
	return !errors.As(context.Cause(ctx), &s) || s.signal == os.Interrupt
}

// farewell is what a second Ctrl-C says, which leaves at once. Safe for
// concurrent use.
type farewell struct {
	mu   sync.Mutex
	text string
}

type farewellKey struct{}

// setFarewell says what is left behind from here on.
func setFarewell(ctx context.Context, text string) {
	if f, ok := ctx.Value(farewellKey{}).(*farewell); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.text = text
	}
}

func (f *farewell) say() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}
