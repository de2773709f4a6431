package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Look tells where the process held in dir stands. It changes nothing and may
// be called at any time by anybody.
func Look(dir string) (State, error) {
	v, err := thisMachine().look(dir)
	if err != nil {
		return State{}, err
	}
	return v.state(), nil
}

// view is all that is known of a held directory at one moment.
type view struct {
	spec       Spec
	record     *record // nil: the supervisor never got as far as starting anything
	exit       *Exit
	supervisor *process  // nil: gone, or a zombie
	live       []process // members of the tree that live, the supervisor not
	killed     bool
	stopping   bool
}

func (m machine) look(dir string) (view, error) {
	var v view
	if _, err := load(dir, specFile, &v.spec); err != nil {
		return v, err
	}
	var r record
	if there, err := load(dir, stateFile, &r); err != nil || !there {
		return v, err
	}
	v.record, v.killed, v.stopping = &r, wasKilled(dir), wasAsked(dir)
	boot, err := m.bootID()
	if err != nil {
		return v, err
	}
	if boot == r.Boot {
		if err := m.lookAtTree(dir, &v); err != nil {
			return v, err
		}
	}
	// Last, so that an exit which is written before the supervisor goes is seen
	// by whoever saw it gone.
	var exit Exit
	if there, err := load(dir, ExitFile, &exit); errors.Is(err, errDamaged) { // it must not keep the tree from being ended
		v.exit = &Exit{Error: err.Error()}
	} else if err != nil {
		return v, err
	} else if there {
		v.exit = &exit
	}
	return v, nil
}

func (m machine) lookAtTree(dir string, v *view) error {
	var known []identity
	if _, err := load(dir, treeFile, &known); err != nil {
		return err
	}
	all, err := m.processes()
	if err != nil {
		return err
	}
	if p, ok := all[v.record.Supervisor.PID]; ok && p.identity == v.record.Supervisor && p.alive() {
		v.supervisor = &p
	}
	v.live = living(heldTree(v.spec, all, *v.record, known, m.writesOutput(dir)))
	return nil
}

func (v view) state() State {
	s := State{ID: v.spec.ID, Phase: Absent}
	if v.record == nil {
		return s
	}
	s.PID, s.Boot, s.Since = v.record.Command.PID, v.record.Boot, v.record.Since
	s.Alive, s.Exit, s.Killed, s.Stopping = len(v.live), v.exit, v.killed, v.stopping
	switch {
	case v.exit != nil:
		s.Phase = Exited
	case v.supervisor != nil:
		s.Phase = Running
	case len(v.live) > 0:
		s.Phase = Orphaned
	default:
		s.Phase = Lost
	}
	return s
}

// settled is false while a start is under way.
func (v view) settled() bool {
	return v.record != nil && (v.record.Command.PID != 0 || v.exit != nil || v.supervisor == nil)
}

// lock takes the directory's lock, which lasts from the beginning of a start
// until its supervisor ends; nil when somebody else has it. The kernel frees
// it with the last process that holds it, however that ends.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of a held directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// starting tells whether a start is under way in a directory where nothing is
// recorded yet.
func starting(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, lockFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := lock(dir)
	if f != nil {
		f.Close()
	}
	return err == nil && f == nil, err
}
