package launch

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Deadlines of single calls to a runtime. A daemon that hangs must not hang
// the night; Create may copy a container of many gigabytes.
const (
	createTime  = 15 * time.Minute
	destroyTime = 3 * time.Minute
	callTime    = time.Minute
)

// Bounded gives every call of a runtime a deadline of its own.
func Bounded(rt Runtime) Runtime { return timed{rt} }

type timed struct{ rt Runtime }

func (b timed) Create(ctx context.Context, spec InstanceSpec) (Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, createTime)
	defer cancel()
	return b.rt.Create(ctx, spec)
}

func (b timed) Exec(ctx context.Context, in Instance, cmd Cmd) (ExecResult, error) {
	bound := cmd.Bound
	if bound <= 0 {
		bound = longestStop + callTime // the longest short command is a stop
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return b.rt.Exec(ctx, in, cmd)
}

func (b timed) List(ctx context.Context) ([]Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return b.rt.List(ctx)
}

func (b timed) Destroy(ctx context.Context, in Instance) error {
	ctx, cancel := context.WithTimeout(ctx, destroyTime)
	defer cancel()
	return b.rt.Destroy(ctx, in)
}

func (b timed) Files(in Instance) Files { return timedFiles{b.rt.Files(in)} }

type timedFiles struct{ files Files }

func (b timedFiles) Put(ctx context.Context, path string, data io.Reader, mode fs.FileMode) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return b.files.Put(ctx, path, data, mode)
}

func (b timedFiles) ReadAt(ctx context.Context, path string, offset int64, max int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return b.files.ReadAt(ctx, path, offset, max)
}
