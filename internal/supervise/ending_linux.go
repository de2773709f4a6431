package supervise

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// endingPoll is the time between two looks at a tree that is being ended.
	endingPoll = 20 * time.Millisecond
	// slowPoll is that time when a grace is long, or when KILL does not help:
	// a process that waits for a device ends only when that answers.
	slowPoll = time.Second / 4
)

// ending is one try to end a tree: TERM once to each member, then, when the
// grace is over, KILL to whatever is there, again and again.
type ending struct {
	machine  machine
	dir      string
	began    time.Time
	deadline time.Time
	asked    map[identity]bool
	killed   bool
}

func newEnding(m machine, dir string, grace time.Duration) *ending {
	now := time.Now()
	return &ending{machine: m, dir: dir, began: now, deadline: now.Add(grace), asked: map[identity]bool{}}
}

// poll is when to look again.
func (e *ending) poll() time.Duration {
	if time.Since(e.began) < 2*time.Second {
		return endingPoll
	}
	if late := time.Since(e.deadline); late >= 0 && late < 5*time.Second {
		return endingPoll
	}
	return slowPoll
}

// step signals what lives now. It is called until nothing does: members that
// were forked since the last step are met in the next.
func (e *ending) step(live []process, supervisor identity) {
	if time.Now().Before(e.deadline) {
		for _, p := range live {
			e.ask(p)
		}
		return
	}
	e.kill(live, supervisor)
}

// ask sends TERM once: programs take a second one as an order to be rude. An
// error means that it is gone already, or it will be met again by KILL.
func (e *ending) ask(p process) {
	if !e.asked[p.identity] {
		e.asked[p.identity] = true
		_ = e.machine.signal(p.identity, unix.SIGTERM)
	}
	if p.state == 'T' {
		_ = e.machine.signal(p.identity, unix.SIGCONT) // a stopped process cannot act on TERM
	}
}

// ownGroup tells whether all of p's group belongs to the tree, which it does if
// it was founded within it: by something younger than the supervisor.
func (e *ending) ownGroup(p process, supervisor identity) bool {
	now, ok := e.machine.process(p.PID)
	if !ok || now.identity != p.identity || now.group != p.group || p.group <= 1 {
		return false
	}
	founder, lives := e.machine.process(p.group)
	return !lives || founder.Start >= supervisor.Start
}

func (e *ending) kill(live []process, supervisor identity) {
	if !e.killed && len(live) > 0 {
		e.killed = true
		_ = markKilled(e.dir) // also kept in e.killed; a full disk must not stop the killing
	}
	groups := map[int]bool{}
	for _, p := range live {
		// A whole group at once first: the kernel lets no fork slip through a
		// signal to a group, so something that forks without end is caught.
		if !groups[p.group] && p.group != supervisor.PID && e.ownGroup(p, supervisor) {
			groups[p.group] = true
			_ = unix.Kill(-p.group, unix.SIGKILL)
		}
		_ = e.machine.signal(p.identity, os.Kill)
	}
}
