// Package supervise holds one process so that it outlives whoever started it.
//
// A supervisor (this same binary, `sweep supervise run`) becomes a session
// leader and a subreaper, starts the command with its output in a file, and
// writes the exit state atomically. So the command survives the death of its
// starter, its exit code is known afterwards, and its whole tree can be ended:
// children that ignore TERM, double-forked ones, ones in sessions of their own.
//
// Everything is kept in one directory a process:
//
//	spec.json    what was asked (never holds secrets: those come by environment)
//	state.json   who supervises: boot id, pids and their start times
//	output.log   the command's stdout and stderr, interleaved as written
//	exit.json    how the command ended; written once, atomically
//	tree.json    identities of the descendants seen so far, for when the supervisor itself is killed
//	stop.json    the grace that the last Stop asked for
//	killed       there when TERM was not enough and KILL ended something
//	lock         held (flock) from the start until the supervisor ends
//
// Identity is boot id + pid + start time, so a recycled pid or a rebooted
// machine is never mistaken for the process.
package supervise

import "time"

// Spec is what to run. It is idempotent by ID: starting a directory that
// already holds this ID returns the state of the first start.
type Spec struct {
	ID     string        `json:"id"`
	Argv   []string      `json:"argv"`
	Env    []string      `json:"env,omitempty"`    // NAME=value, the whole environment of the command
	Dir    string        `json:"dir,omitempty"`    // working directory; empty: the held directory
	Grace  time.Duration `json:"grace"`            // between TERM and KILL when stopped; 0 means DefaultGrace
	Nofile uint64        `json:"nofile,omitempty"` // limit on open files, as far as this user may raise it; 0 leaves it

	// Alone is for a command that holds others itself: only the command is
	// supervised. What it started lives on when it ends, and is not waited for.
	Alone bool `json:"alone,omitempty"`

	// Secrets are NAME=value pairs added to Env for the command only. They
	// travel on the starter's stdin and in process environments, never on disk.
	Secrets []string `json:"-"`
}

// DefaultGrace is how long a tree has between TERM and KILL.
const DefaultGrace = 15 * time.Second

// Phase is where a held process stands.
type Phase string

// The phases of a held process.
const (
	Absent   Phase = "absent"   // nothing was ever started in this directory
	Running  Phase = "running"  // the command lives under its supervisor
	Exited   Phase = "exited"   // the command ended and its exit is known
	Orphaned Phase = "orphaned" // the supervisor is gone without an exit state; members of the tree may live
	Lost     Phase = "lost"     // the supervisor and the tree are gone without an exit state (killed, reboot)
)

// State is what is known of a held process at one moment.
type State struct {
	ID    string `json:"id"`
	Phase Phase  `json:"phase"`
	PID   int    `json:"pid,omitempty"`   // of the command
	Alive int    `json:"alive"`           // processes of the tree that live now (zombies not counted, the supervisor neither)
	Boot  string `json:"boot,omitempty"`  // boot id at the start
	Since string `json:"since,omitempty"` // RFC 3339, when the command was started
	Exit  *Exit  `json:"exit,omitempty"`

	// Killed tells that TERM and the grace were not enough: something of the
	// tree had to be ended by KILL.
	Killed bool `json:"killed"`
	// Stopping is set once a Stop was asked for, also while the command lives on.
	Stopping bool `json:"stopping"`
}

// Exit is how a command ended.
type Exit struct {
	Code   *int      `json:"code"`             // exit status; null when a signal ended it or it never started
	Signal string    `json:"signal,omitempty"` // "SIGKILL" and the like
	Error  string    `json:"error,omitempty"`  // why it could not be started
	At     time.Time `json:"at"`
	OOM    *bool     `json:"oom_killed"` // the cgroup's oom_kill counter rose; null where it cannot be read
}
