package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sweep/internal/launch"
)

// TestMain lets the test binary be the sweep binary that an instance gets.
func TestMain(m *testing.M) {
	Agent(os.Args[1:])
	// The race detector waits a second at the end of every process otherwise.
	if err := errors.Join(os.Setenv("GORACE", "atexit_sleep_ms=0"), os.Setenv(LeakVariable, "1")); err != nil {
		panic(err)
	}
	code := m.Run()
	// Supervisors end a moment after their tree.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if untilGone(ctx, Prefix()) != nil {
		fmt.Fprintln(os.Stderr, "processes left by the tests:", Marked(Prefix()))
		code = 1
	}
	os.Exit(code)
}

// underTest is Process, which can be given foreign instances.
type underTest struct {
	*launch.Process
	state string
}

func (u underTest) MakeForeign(_ context.Context, name string) (there func() bool, remove func() error, err error) {
	file := filepath.Join(u.state, "instances", name, "precious")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(file, []byte("data"), 0o644); err != nil {
		return nil, nil, err
	}
	there = func() bool { text, err := os.ReadFile(file); return err == nil && string(text) == "data" }
	return there, func() error { return os.RemoveAll(filepath.Dir(file)) }, nil
}

// newProcess shares one cache among the runtimes of a test, as sweeps do.
func newProcess(t *testing.T, cache string) underTest {
	state := t.TempDir()
	return underTest{launch.NewProcess(state, cache), state}
}

func TestProcess(t *testing.T) {
	cache := t.TempDir()
	Run(t, func(t *testing.T) launch.Runtime { return newProcess(t, cache) })
}
