package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// daemon is a shell command that leaves a process behind which has lost its
// parent, is in a session of its own, and ignores TERM. $1 gets its pid.
const daemon = `(setsid sh -c 'trap "" TERM; echo $$ >"$1"; while :; do sleep 1; done' sh "$1" & ) ; `

func TestStopEndsTheWholeTree(t *testing.T) {
	for _, c := range []struct {
		name, script string
		killed       bool
	}{
		{"willing", `echo $$ >"$1"; exec sleep 600`, false},
		{"ignores TERM", `trap "" TERM; echo $$ >"$1"; while :; do sleep 1; done`, true},
		{"double-forked, own session, ignores TERM", daemon + `exec sleep 600`, true},
		{"keeps forking, ignores TERM", `trap "" TERM; echo $$ >"$1"; while :; do sleep 600 & sleep 0.01; done`, true},
		{"stopped", `echo $$ >"$1"; kill -STOP $$; sleep 600`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			dir, s := hold(t, "sh", "-c", c.script, "sh", pidFile)
			pid := pidOf(t, pidFile)
			got, err := Stop(t.Context(), dir, 300*time.Millisecond)
			if err != nil || got.Phase != Exited || got.Alive != 0 || got.Killed != c.killed {
				t.Errorf("stopped: %+v, %v; want killed %v", got, err, c.killed)
			}
			if lives(pid) || lives(s.PID) || lives(supervisorOf(t, dir)) {
				t.Error("something of it lives")
			}
			if again, err := Stop(t.Context(), dir, time.Hour); err != nil || fmt.Sprint(again.Exit) != fmt.Sprint(got.Exit) || again.Killed != c.killed {
				t.Errorf("stopped again: %+v, %v", again, err)
			}
		})
	}
}

// What a command leaves behind is ended when it exits by itself, also when
// each process lives only long enough to fork the next.
func TestStragglersAreEnded(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"daemon", daemon + `while [ ! -s "$1" ]; do sleep 0.01; done; exit 3`},
		{"chain of forks", `echo 'trap "" TERM; sh "$0" & exit 3' >"$1.sh"; echo $$ >"$1"; exec sh "$1.sh"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			dir, _ := hold(t, "sh", "-c", c.script, "sh", pidFile)
			if s := ended(t, dir); s.Exit.String() != "exit status 3" {
				t.Errorf("exit %s", s.Exit)
			}
			eventually(t, "the supervisor has ended", func() bool { return !lives(supervisorOf(t, dir)) })
			if s := look(t, dir); s.Alive != 0 || !s.Killed || lives(pidOf(t, pidFile)) {
				t.Errorf("after the supervisor: %+v", s)
			}
		})
	}
}

// Schedulers leave the launcher's tree; the launcher is killed; the derived
// port must be free before the next start.
func TestA11SchedulerThatLeftTheTreeIsEnded(t *testing.T) {
	portFile := filepath.Join(t.TempDir(), "port")
	dir, s := hold(t, "sh", "-c", `("$1" hold-port "$2" &); exec sleep 600`, "sh", os.Args[0], portFile)
	address := "127.0.0.1:" + lineOf(t, portFile)
	killHard(t, s.PID)
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close() // the scheduler is there without its launcher
	} else {
		t.Fatal(err)
	}
	got, err := Stop(t.Context(), dir, 200*time.Millisecond)
	if err != nil || got.Exit.String() != "killed by SIGKILL" || got.Alive != 0 {
		t.Errorf("stopped: %+v, %v", got, err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the derived port still answers")
	}
}

// holdPort is a process that ignores TERM and listens; file gets its port.
func holdPort(file string) {
	signal.Ignore(syscall.SIGTERM)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, fmt.Appendln(nil, l.Addr().(*net.TCPAddr).Port), 0o600); err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		conn.Close()
	}
}

func TestSupervisorKilledLeavesAnOrphanThatStopEnds(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	dir, s := hold(t, "sh", "-c", daemon+`sleep 600 & exec sleep 600`, "sh", pidFile)
	pid := pidOf(t, pidFile)
	eventually(t, "the supervisor has seen the daemon", func() bool {
		var known []identity
		_, err := load(dir, treeFile, &known)
		for _, id := range known {
			if id.PID == pid {
				return true
			}
		}
		return err != nil
	})
	killHard(t, supervisorOf(t, dir))
	if got := look(t, dir); got.Phase != Orphaned || got.Alive < 3 || got.Exit != nil {
		t.Fatalf("supervisor killed: %+v", got)
	}
	if again, err := Start(t.Context(), dir, Spec{ID: "x", Argv: []string{"true"}}); err != nil || again.Phase != Orphaned {
		t.Errorf("started again: %+v, %v; want the orphan", again, err)
	}
	got, err := Stop(t.Context(), dir, 200*time.Millisecond)
	if err != nil || got.Phase != Lost || got.Alive != 0 || !got.Killed || lives(pid) || lives(s.PID) {
		t.Errorf("stopped: %+v, %v", got, err)
	}
}

// Without tree.json, and the command dead too, the session and the output file
// tell who belongs.
func TestOrphanFoundByItsSession(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	dir, s := hold(t, "sh", "-c", `sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" & exec sleep 600`, "sh", pidFile)
	pid := pidOf(t, pidFile)
	supervisor := supervisorOf(t, dir)
	killHard(t, supervisor)
	killHard(t, s.PID)
	if err := os.Remove(filepath.Join(dir, treeFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got := look(t, dir); got.Phase != Orphaned || got.Alive != 1 {
		t.Errorf("%+v", got)
	}
	if got, err := Stop(t.Context(), dir, time.Second); err != nil || got.Phase != Lost || got.Killed || lives(pid) {
		t.Errorf("stopped: %+v, %v", got, err)
	}
}

func TestStopOfAFrozenTreeAndSupervisor(t *testing.T) {
	dir, s := hold(t, "sleep", "600")
	for _, pid := range []int{s.PID, supervisorOf(t, dir)} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is stopped", func() bool { p, _ := thisMachine().process(pid); return p.state == 'T' })
	}
	got, err := Stop(t.Context(), dir, 5*time.Second)
	if err != nil || got.Exit.String() != "killed by SIGTERM" || got.Killed {
		t.Errorf("stopped: %+v, %v", got, err)
	}
}

func TestStopByManyAtOnceSendsOneTerm(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	dir, _ := hold(t, "sh", "-c", `trap 'echo term >>"$1"' TERM; echo up; while [ ! -s "$1" ]; do sleep 0.05; done; sleep 0.2; exit 0`, "sh", count)
	lineOf(t, filepath.Join(dir, OutputFile))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if s, err := Stop(t.Context(), dir, 5*time.Second); err != nil || s.Alive != 0 || s.Exit.String() != "exit status 0" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	wg.Wait()
	if got := lineOf(t, count); got != "term" {
		t.Errorf("the command got %q", got)
	}
}

func TestTermToTheSupervisorEndsTheTree(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	dir, _ := holdSpec(t, Spec{ID: "x", Argv: []string{"sh", "-c", daemon + "exec sleep 600", "sh", pidFile}, Env: testEnv(), Grace: 200 * time.Millisecond})
	pid, supervisor := pidOf(t, pidFile), supervisorOf(t, dir)
	if err := syscall.Kill(supervisor, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the supervisor has ended", func() bool { return !lives(supervisor) })
	if s := look(t, dir); s.Phase != Exited || s.Alive != 0 || !s.Killed || lives(pid) {
		t.Errorf("%+v", s)
	}
}

func TestStopGivesUpWithItsContext(t *testing.T) {
	dir, s := hold(t, "sh", "-c", `trap "" TERM; echo up; while :; do sleep 1; done`)
	lineOf(t, filepath.Join(dir, OutputFile))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Stop(ctx, dir, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if !lives(s.PID) {
		t.Error("killed before its grace was over")
	}
}

// killAfterPanic is what remains of a supervisor after a panic: it must end a
// tree that it never looked at. It runs in a process of its own.
func killAfterPanic(pidFile string) int {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return 2
	}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", daemon + "exec sleep 600", "sh", pidFile}, &os.ProcAttr{Env: testEnv()})
	if err != nil {
		return 2
	}
	for range 1000 {
		if text, _ := os.ReadFile(pidFile); len(text) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	self, _ := thisMachine().process(os.Getpid())
	s := &supervisor{dir: filepath.Dir(pidFile), machine: thisMachine(), command: p.Pid, record: record{Supervisor: self.identity}}
	s.kill()
	return 0
}

func TestPanicEndsTheTree(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	cmd := self(t.Context(), "kill-after-panic", pidFile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as every supervisor; what is not in its session must live
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if lives(pidOf(t, pidFile)) {
		t.Error("the tree lives")
	}
}
