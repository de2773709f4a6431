package supervise

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A command that is held alone leaves what it started when it is killed, and
// when it is stopped; nobody waits for that either.
func TestAlone(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, dir string, s State){
		"killed":  func(_ *testing.T, _ string, s State) { _ = unix.Kill(s.PID, unix.SIGKILL) },
		"stopped": func(t *testing.T, dir string, _ State) { stopped(t, dir) },
		"supervisor killed": func(t *testing.T, dir string, s State) {
			var r record
			if _, err := load(dir, stateFile, &r); err != nil {
				t.Fatal(err)
			}
			_ = unix.Kill(r.Supervisor.PID, unix.SIGKILL)
			eventually(t, "it is orphaned", func() bool { return look(t, dir).Phase == Orphaned })
			_ = unix.Kill(s.PID, unix.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "child")
			dir, s := holdSpec(t, Spec{ID: "x", Alone: true, Env: testEnv(),
				Argv: []string{"sh", "-c", `setsid sleep 100 & echo $! >"$0"; exec sleep 100`, file}})
			child, err := strconv.Atoi(lineOf(t, file))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = unix.Kill(child, unix.SIGKILL)
				eventually(t, "the child is gone", func() bool { p, ok := thisMachine().process(child); return !ok || !p.alive() })
			})
			if now := look(t, dir); now.Alive != 1 {
				t.Errorf("%d processes are supervised, want the command alone", now.Alive)
			}
			end(t, dir, s)
			eventually(t, "it is over", func() bool { now := look(t, dir); return now.Phase == Exited || now.Phase == Lost })
			if p, ok := thisMachine().process(child); !ok || !p.alive() {
				t.Error("what the command started has ended with it")
			}
		})
	}
}

func stopped(t *testing.T, dir string) {
	t.Helper()
	began := time.Now()
	if s, err := Stop(t.Context(), dir, 5*time.Second); err != nil || s.Alive != 0 {
		t.Errorf("%+v, %v after %v", s, err, time.Since(began))
	}
	if _, err := os.Stat(filepath.Join(dir, ExitFile)); err != nil {
		t.Error(err)
	}
}
