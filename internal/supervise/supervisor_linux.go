package supervise

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// scanEvery is how often a supervisor looks for new descendants.
	scanEvery = time.Second
	// stragglerGrace is what the rest of a tree gets between TERM and KILL when
	// its command has ended.
	stragglerGrace = 2 * time.Second
	// saveEvery and saveTime: a write that failed, on a full disk say, is tried
	// again so often, and for so long after everything has ended.
	saveEvery = time.Second
	saveTime  = 5 * time.Second
)

// supervisor attends one command. It does everything on one goroutine, so that
// one deferred function can catch any panic.
type supervisor struct {
	dir      string
	machine  machine
	spec     Spec
	record   record
	signals  chan os.Signal
	children chan os.Signal

	command   int // pid; 0 when it was not started
	reaped    bool
	exit      *Exit // how it ended
	saved     bool  // exit is on disk
	saveAgain time.Time
	ending    *ending
	known     []identity // what is in tree.json
	oomFile   string
	oomBefore *uint64
}

// attend returns when the command and its whole tree have ended.
func (s *supervisor) attend() int {
	wake := time.NewTimer(0)
	var empty time.Time // since when no child is left
	for {
		timed := false
		select {
		case <-s.children:
		case sig := <-s.signals:
			if sig == unix.SIGTERM || sig == unix.SIGINT {
				s.end(s.orderedGrace())
			}
		case <-wake.C:
			timed = true
		}
		none := s.reap()
		if err := s.saveExit(); err != nil {
			fmt.Fprintln(os.Stderr, "sweep supervise run:", err)
		}
		if none {
			if empty.IsZero() {
				empty = time.Now()
			}
			if s.saved {
				return 0
			}
			if time.Since(empty) > saveTime {
				return 1
			}
		}
		if timed || s.ending != nil {
			s.scan()
		}
		switch {
		case s.ending != nil:
			wake.Reset(s.ending.poll())
		case timed:
			wake.Reset(scanEvery)
		}
	}
}

// orderedGrace is what Stop asked for; a TERM from elsewhere gets the spec's.
func (s *supervisor) orderedGrace() time.Duration {
	var order stopOrder
	if there, err := load(s.dir, stopFile, &order); err == nil && there && order.Grace > 0 {
		return order.Grace
	}
	return s.spec.grace()
}

// end begins to end the tree, unless that is already due sooner.
func (s *supervisor) end(grace time.Duration) {
	e := newEnding(s.machine, s.dir, grace)
	if s.ending == nil {
		s.ending = e
	} else if e.deadline.Before(s.ending.deadline) {
		s.ending.deadline = e.deadline
	}
}

// reap takes in every child that has ended, the adopted too, and tells whether
// none is left: to a subreaper that is proof that the tree has ended.
func (s *supervisor) reap() (none bool) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return true
		case err != nil || pid <= 0:
			return false
		case pid == s.command && !s.reaped:
			s.reaped = true
			s.exit = exitOf(status, oomKilled(s.oomBefore, oomKills(s.oomFile)))
		}
	}
}

func exitOf(status unix.WaitStatus, oom *bool) *Exit {
	e := &Exit{At: time.Now(), OOM: oom}
	if status.Signaled() {
		if e.Signal = unix.SignalName(status.Signal()); e.Signal == "" {
			e.Signal = fmt.Sprintf("signal %d", status.Signal())
		}
		return e
	}
	code := status.ExitStatus()
	e.Code = &code
	return e
}

// saveExit writes the exit as soon as there is one, and only then begins to
// end what the command left behind.
func (s *supervisor) saveExit() error {
	if s.exit == nil || s.saved || time.Now().Before(s.saveAgain) {
		return nil
	}
	err := save(s.dir, ExitFile, s.exit)
	s.saved, s.saveAgain = err == nil, time.Now().Add(saveEvery)
	if s.ending == nil {
		s.end(min(stragglerGrace, s.spec.grace()))
	}
	return err
}

// scan looks at the tree, keeps who is in it, and goes on ending it when that
// has begun. What fails is tried again by the next scan.
func (s *supervisor) scan() {
	all, err := s.machine.processes()
	if err != nil {
		return
	}
	found := heldTree(s.spec, all, s.record, s.known, func(int) bool { return false })
	if s.ending != nil {
		s.ending.step(living(found), s.record.Supervisor)
	}
	if now := identities(found); !slices.Equal(now, s.known) && save(s.dir, treeFile, now) == nil {
		s.known = now
	}
}

// kill ends the tree after a panic, by the few means that are sure.
func (s *supervisor) kill() {
	s.end(0)
	_ = s.saveExit() // best effort: what counts is that the tree ends
	for !s.reap() {
		if all, err := s.machine.processes(); err == nil {
			s.ending.step(living(heldTree(s.spec, all, s.record, nil, func(int) bool { return false })), s.record.Supervisor)
		}
		time.Sleep(endingPoll)
	}
	_ = s.saveExit()
}
