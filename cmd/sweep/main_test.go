package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// binary is the program under test, built once. Held processes run a copy of
// it, so it has to be the real one.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "sweep-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "sweep")
	build := exec.Command("go", append([]string{"build", "-o", binary}, append(raceFlag, ".")...)...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestScripts runs the command line as a user does: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			for _, v := range homes(e.WorkDir) {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			e.Setenv("PATH", filepath.Dir(binary)+":"+e.Getenv("PATH"))
			e.Setenv("PORT", fmt.Sprint(freePort(t)))
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// homes puts all that sweep keeps below one directory of a test.
func homes(dir string) []string {
	return []string{"HOME=" + dir, "XDG_DATA_HOME=" + filepath.Join(dir, "data"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "SWEEP_DATA=", "SWEEP_LOCK=" + filepath.Join(dir, "host.lock"), "NO_COLOR=1", "TZ=UTC",
		"GORACE=atexit_sleep_ms=0"} // the race detector waits a second at the end of every process otherwise
}
