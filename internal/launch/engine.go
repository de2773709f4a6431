package launch

import (
	"context"
	"errors"
	"io"
	"time"
)

// engine is one container tool of this host: what has to be known of a
// container from outside. What happens inside is the same for all of them, see
// Containers. Safe for concurrent use.
type engine interface {
	// kind names the runtime: incus, lxc, pct, docker.
	kind() string
	// hint is the command that lets a container go on or starts it, as " with
	// `…`".
	hint(what remedy, name string) string
	// look finds a container; ErrGone when there is none of that name.
	look(ctx context.Context, name string) (container, error)
	// list returns the containers that carry sweep's labels.
	list(ctx context.Context) ([]container, error)
	// freshName is what a container that is made for an instance is called.
	freshName(ctx context.Context, instance string) (string, error)
	// make creates a container that is known as ours before it can run
	// anything, and starts it. Where it is cheap, the program bin of
	// this host is readable inside, in insideBin.
	make(ctx context.Context, name string, spec InstanceSpec, bin string) error
	// start starts a container of ours that is stopped. One that runs is left.
	start(ctx context.Context, name string) error
	// remove ends a container and everything in it, and returns when it is
	// gone. None of that name is no error. Only called for one of ours.
	remove(ctx context.Context, name string) error
	// run runs a program in a container as its default user, with the
	// container's own environment, and returns its exit code. It must read
	// stdin to its end as it comes, and must not wait for it after the program
	// has ended. The error wraps errDaemonAway when it is not known whether the
	// program ran to its end, ErrGone when there is nothing to run it in.
	run(ctx context.Context, name string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (code int, err error)
}

// reader is an engine whose tool reads files itself, at less than the cost of
// a run. An error other than fs.ErrNotExist, and nothing read at the beginning
// of a file, say nothing: the tool may not read links, or what has no size.
type reader interface {
	readAt(ctx context.Context, name, file string, offset int64, max int) ([]byte, error)
}

// remedy is what a person is told to do with a container.
type remedy int

const (
	thaw remedy = iota
	wake
)

// container is what an engine knows of one.
type container struct {
	name    string
	labels  map[string]string // sweep's; nil: not ours
	running bool
	frozen  bool
	pid     int // of its first process, as this host counts; 0: not known
	created time.Time
}

// ErrGone is wrapped by the error of a call on an instance that is not there,
// or whose container does not run: nothing of it lives.
var ErrGone = errors.New("is not running")

// ErrFrozen is wrapped by the error of a call on an instance whose container is
// frozen: what is in it stands still until somebody lets it go on.
var ErrFrozen = errors.New("is frozen")

// ErrOrigin is wrapped by the error of a Create whose container cannot be had:
// it does not exist, does not run, or there is no such image. Others can.
var ErrOrigin = errors.New("the container cannot be had")

// errNoBinary is wrapped by the error of a call for which there was nothing to
// run: sweep's own binary is not in the container, or may not be executed.
var errNoBinary = errors.New("the sweep binary cannot be run")

// errDaemonAway is wrapped by the error of a call whose fate is not known: the
// daemon restarted under it, or the connection to it broke. What may be done
// twice is done again.
var errDaemonAway = errors.New("the container daemon went away")

// Where sweep's things are in a container that has them by default.
const (
	insideHome = "/var/lib/sweep"
	insideBin  = insideHome + "/bin"
)
