package supervise

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	// killTime is how long a tree may take to go after KILL: the kernel first
	// frees what it holds, and a driver may take its time with pinned memory.
	killTime = 60 * time.Second
	// supervisorTime is how long the supervisor may live on after its tree.
	supervisorTime = 10 * time.Second
	// ownKillAfter is how long after the grace Stop kills by itself what a
	// supervisor should have killed.
	ownKillAfter = time.Second
)

// Stop ends the whole tree held in dir: TERM, grace, KILL. It returns when
// nothing of it lives, or with an error that names what does. A grace of 0
// means the spec's own. It may be called at any time, more than once and by
// several at once: also when the command has exited, when its supervisor was
// killed, when the machine has rebooted since, and when nothing was started.
func Stop(ctx context.Context, dir string, grace time.Duration) (State, error) {
	return thisMachine().stop(ctx, dir, grace)
}

func (m machine) stop(ctx context.Context, dir string, grace time.Duration) (State, error) {
	var e *ending
	var alone time.Time // since when the supervisor has had nothing to supervise
	quiet := false      // nothing lived at the last look
	for {
		v, err := m.look(dir)
		if err != nil {
			return State{}, fmt.Errorf("stop what is held in %s: %w", dir, err)
		}
		if e == nil {
			if grace <= 0 {
				grace = v.spec.grace()
			}
			e = newEnding(m, dir, grace)
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, grace+killTime)
			defer cancel()
		}
		if v.record == nil {
			// A starter may be between its first file and the command.
			if under, err := starting(dir); err != nil || !under {
				if again, lookErr := m.look(dir); err == nil && lookErr == nil && again.record != nil {
					continue // it came just now
				}
				return v.state(), err
			}
		} else {
			gone := len(v.live) == 0 && v.supervisor == nil
			if gone && quiet { // twice: one look can miss a child forked meanwhile
				s := v.state()
				s.Killed = s.Killed || e.killed
				return s, nil
			}
			quiet = gone
			m.advance(e, v, grace)
			m.release(v, &alone)
		}
		select {
		case <-ctx.Done():
			return v.state(), fmt.Errorf("stop what is held in %s: %w; still there: %s", dir, ctx.Err(), v.survivors())
		case <-time.After(e.poll()):
		}
	}
}

// advance takes the ending one step on. A supervisor is asked to end its tree,
// so that several who stop at once still send each process one TERM; without
// one, or when it fails to, the tree is signalled from here.
func (m machine) advance(e *ending, v view, grace time.Duration) {
	switch {
	case v.supervisor == nil:
		e.step(v.live, v.record.Supervisor)
	case time.Since(e.deadline) > ownKillAfter:
		e.kill(v.live, v.record.Supervisor)
	case !e.asked[v.supervisor.identity]:
		_ = save(e.dir, stopFile, stopOrder{Grace: grace}) // on a full disk the spec's grace holds
		e.ask(*v.supervisor)
	default:
		e.ask(*v.supervisor) // wakes one that was stopped by SIGSTOP
	}
}

// stopOrder is stop.json.
type stopOrder struct {
	Grace time.Duration `json:"grace"`
}

// release ends a supervisor that hangs: normally it ends with its tree.
func (m machine) release(v view, alone *time.Time) {
	switch {
	case v.supervisor == nil:
	case len(v.live) > 0 || !v.settled():
		*alone = time.Time{}
	case alone.IsZero():
		*alone = time.Now()
	case time.Since(*alone) > supervisorTime:
		_ = m.signal(v.supervisor.identity, os.Kill) // looked at again in the next round
	}
}

// survivors names what could not be ended, for the error.
func (v view) survivors() string {
	all := v.live
	if v.supervisor != nil {
		all = append([]process{*v.supervisor}, all...)
	}
	if len(all) == 0 {
		return "a start under way"
	}
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%q pid %d state %c", p.name, p.PID, p.state))
	}
	return strings.Join(names, ", ")
}
