// Package launch holds servers and benches in instances (containers, or the
// bare machine) on this host, and knows the life of a server: start, ready,
// stop, clean.
package launch

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Runtime holds instances (containers, or the bare machine) on this host.
// Safe for concurrent use.
type Runtime interface {
	// Create makes an instance that carries the labels of spec before it can
	// run anything. Called again with the same name, it returns the instance
	// that is there when its labels say that it is ours, and an error otherwise.
	Create(ctx context.Context, spec InstanceSpec) (Instance, error)
	// Exec runs a short command to its end and returns its output. A command
	// that ran and failed is not an error: look at Code. When ctx ends, the
	// command is killed and ctx's error returned.
	Exec(ctx context.Context, in Instance, cmd Cmd) (ExecResult, error)
	// Files reaches files inside the instance.
	Files(in Instance) Files
	// List returns only instances that sweep made, in order of their names.
	List(ctx context.Context) ([]Instance, error)
	// Destroy ends everything in the instance and removes it. It is
	// idempotent, safe after a failed Create, and returns when it is gone.
	Destroy(ctx context.Context, in Instance) error
}

// Files reads and writes inside an instance. Paths are absolute there.
type Files interface {
	// Put writes a file atomically: a reader sees the old one or the new one.
	// Missing parent directories are made.
	Put(ctx context.Context, path string, data io.Reader, mode fs.FileMode) error
	// ReadAt returns up to max bytes from offset; at the end of the file none
	// and no error; a missing file is fs.ErrNotExist.
	ReadAt(ctx context.Context, path string, offset int64, max int) ([]byte, error)
}

// InstanceSpec asks for an instance.
type InstanceSpec struct {
	Name   string            // unique on the host; letters, digits and dashes
	Labels map[string]string // "sweep", "run", "attempt" …: whose it is
	Origin Origin            // the container it lives in; the runtime process has none
}

// Instance is one place where processes can be held.
type Instance struct {
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Container string            `json:"container,omitempty"` // that it lives in; "": the bare machine
	Dir       string            `json:"dir"`                 // sweep's own directory inside it, absolute
	Bin       string            `json:"bin"`                 // this sweep binary inside it, a hash-named copy that outlives `go run` and an upgrade
	Address   string            `json:"address"`             // where its ports are, seen from inside it
	Env       []string          `json:"env"`                 // what every held process starts from: PATH, HOME, USER, LANG, what the container itself sets, and nothing of the caller's
	OnHost    bool              `json:"on_host"`             // processes are the host's own: nothing of theirs goes with the instance
	Created   time.Time         `json:"created"`
}

// Cmd is a short command. Argv reaches the program byte for byte.
type Cmd struct {
	Argv  []string
	Env   []string // NAME=value; added to the instance's own environment
	Dir   string
	Stdin io.Reader

	Again bool          // it may be done twice: repeated when a container daemon went away under it; with an input that can be sought
	Bound time.Duration // how long it may take; 0: as long as a short command does
}

// ExecResult is how a short command ended.
type ExecResult struct {
	Code   int
	Stdout []byte // at most MaxExecOutput
	Stderr []byte // at most MaxExecOutput
}

// MaxExecOutput bounds what Exec keeps of each stream, in bytes.
const MaxExecOutput = 4 << 20
