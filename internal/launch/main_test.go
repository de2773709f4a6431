package launch

import (
	"context"
	"os"
	"testing"

	"sweep/internal/supervise"
)

// TestMain lets the test binary be the sweep binary that runtimes copy and
// run: without it, each held process would run these tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(supervise.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "inside" {
		os.Exit(Inside(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Under the race detector each process would sleep a second at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
