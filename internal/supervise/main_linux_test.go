package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the sweep binary: Start re-executes it as
// `supervise run`. The tests run in a subreaper, so a process that escapes any
// of them is adopted here and fails the package.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "supervise":
			os.Exit(Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "start-and-hang":
			startAndHang(os.Args[2], os.Args[3:])
		case "hold-port":
			holdPort(os.Args[2])
		case "kill-after-panic":
			os.Exit(killAfterPanic(os.Args[2]))
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	// The race detector waits a second at the end of every process otherwise.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	code := m.Run()
	if left := liveChildren(); left != "" {
		fmt.Fprintln(os.Stderr, "processes left by the tests:", left)
		code = 1
	}
	os.Exit(code)
}

// liveChildren gives the last supervisors a moment to end, then names and
// kills whatever still lives below us.
func liveChildren() string {
	var left []process
	for range 150 {
		all, err := thisMachine().processes()
		if err != nil {
			panic(err)
		}
		self := all[os.Getpid()]
		left = nil
		for _, p := range all {
			if p.parent == self.PID && p.alive() {
				left = append(left, p)
			}
		}
		if len(left) == 0 {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, p := range left {
		_ = thisMachine().signal(p.identity, unix.SIGKILL)
	}
	return fmt.Sprint(left)
}

func startAndHang(dir string, argv []string) {
	s, err := Start(context.Background(), dir, Spec{ID: "x", Argv: argv, Env: testEnv()})
	fmt.Println(s.PID, err)
	select {}
}

func testEnv() []string { return []string{"PATH=" + os.Getenv("PATH")} }

// hold starts a command and ends it when the test does.
func hold(t *testing.T, argv ...string) (dir string, s State) {
	t.Helper()
	return holdSpec(t, Spec{ID: "x", Argv: argv, Env: testEnv()})
}

func holdSpec(t *testing.T, spec Spec) (dir string, s State) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "held")
	cleanUp(t, dir)
	s, err := Start(t.Context(), dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func cleanUp(t *testing.T, dir string) {
	t.Cleanup(func() {
		if s, err := Stop(context.Background(), dir, time.Millisecond); err != nil || s.Alive != 0 {
			t.Errorf("clean up: %+v, %v", s, err)
		}
	})
}

func look(t *testing.T, dir string) State {
	t.Helper()
	s, err := Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not in 10 s: %s", what)
}

func ended(t *testing.T, dir string) State {
	t.Helper()
	eventually(t, "the command has ended", func() bool { return look(t, dir).Exit != nil })
	return look(t, dir)
}

// lineOf waits until a file holds a whole line, and returns it.
func lineOf(t *testing.T, path string) string {
	t.Helper()
	var text []byte
	eventually(t, path+" has a line", func() bool {
		text, _ = os.ReadFile(path)
		return strings.HasSuffix(string(text), "\n")
	})
	return strings.TrimSpace(string(text))
}

func pidOf(t *testing.T, path string) int {
	t.Helper()
	pid, err := strconv.Atoi(lineOf(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func lives(pid int) bool {
	p, ok := thisMachine().process(pid)
	return ok && p.alive()
}

func supervisorOf(t *testing.T, dir string) int {
	t.Helper()
	var r record
	if there, err := load(dir, stateFile, &r); err != nil || !there {
		t.Fatal("no state.json", err)
	}
	return r.Supervisor.PID
}

// killHard is SIGKILL to one pid that this test made.
func killHard(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the killed process is gone", func() bool { return !lives(pid) })
}

// self runs the test binary as sweep.
func self(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, os.Args[0], args...)
}
