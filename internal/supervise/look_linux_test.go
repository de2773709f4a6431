package supervise

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRebootedMachineLosesWhatWasHeld(t *testing.T) {
	dir, s := hold(t, "sleep", "600")
	boot := filepath.Join(t.TempDir(), "boot_id")
	if err := os.WriteFile(boot, []byte("00000000-0000-4000-8000-000000000000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	later := machine{proc: "/proc", boot: boot}
	v, err := later.look(dir)
	if got := v.state(); err != nil || got.Phase != Lost || got.Alive != 0 {
		t.Errorf("after a reboot: %+v, %v", got, err)
	}
	if got, err := later.stop(t.Context(), dir, time.Millisecond); err != nil || got.Phase != Lost || got.Killed {
		t.Errorf("stopped after a reboot: %+v, %v", got, err)
	}
	if !lives(s.PID) {
		t.Error("a process of another boot was signalled")
	}
}

func TestZombiesAreNotAlive(t *testing.T) {
	// sleep never reaps the child that it inherits from the shell.
	dir, s := hold(t, "sh", "-c", "sh -c 'echo $$; exec sleep 0.01' & exec sleep 600")
	pid := pidOf(t, filepath.Join(dir, OutputFile))
	eventually(t, "the child is a zombie", func() bool { p, ok := thisMachine().process(pid); return ok && p.state == 'Z' })
	if got := look(t, dir); got.Alive != 1 {
		t.Errorf("alive %d, want only %d", got.Alive, s.PID)
	}
}

func TestAbsent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "never")
	if s := look(t, dir); s != (State{Phase: Absent}) {
		t.Errorf("%+v", s)
	}
	if s, err := Stop(t.Context(), dir, 0); err != nil || s.Phase != Absent {
		t.Errorf("stop: %+v, %v", s, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking made the directory")
	}
}

// An exit that cannot be written is tried again, and the tree is attended
// meanwhile.
func TestExitIsWrittenWhenThereIsRoomAgain(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	wait := `while [ ! -s "$1" ] || [ ! -e "$1.go" ]; do sleep 0.01; done; `
	dir, s := hold(t, "sh", "-c", daemon+wait+"exit 5", "sh", pidFile)
	pid := pidOf(t, pidFile)
	if err := os.MkdirAll(filepath.Join(dir, ExitFile, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pidFile+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all was ended", func() bool { return !lives(s.PID) && !lives(pid) })
	if err := os.RemoveAll(filepath.Join(dir, ExitFile)); err != nil {
		t.Fatal(err)
	}
	if got := ended(t, dir); got.Exit.String() != "exit status 5" {
		t.Errorf("%+v", got)
	}
}
