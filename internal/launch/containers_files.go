package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Files reaches files inside the instance's container.
func (c *Containers) Files(in Instance) Files { return containerFiles{c, in} }

type containerFiles struct {
	c  *Containers
	in Instance
}

func (f containerFiles) Put(ctx context.Context, name string, data io.Reader, mode fs.FileMode) error {
	if !path.IsAbs(name) {
		return fmt.Errorf("put %q: the path is not absolute", name)
	}
	m, err := f.marker()
	if err == nil {
		_, err = f.c.inside(ctx, m.Container, home{bin: m.Bin}, insideCall{Verb: "put", Path: name, Mode: mode, Again: true}, data)
	}
	if err != nil {
		return fmt.Errorf("put %s in %s: %w", name, f.in.Name, err)
	}
	return nil
}

// ReadAt reads through /proc where this host may: it costs a thousandth of a
// call of the container tool, and goes on while its daemon restarts. Next best
// is a tool that reads files itself; last, the program inside reads.
func (f containerFiles) ReadAt(ctx context.Context, name string, offset int64, max int) ([]byte, error) {
	if !path.IsAbs(name) || offset < 0 || max < 0 {
		return nil, fmt.Errorf("read %q at %d, %d bytes: an absolute path and no negative numbers are expected", name, offset, max)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	m, err := f.marker()
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", name, f.in.Name, err)
	}
	if text, ok, err := f.c.peek(ctx, m.Container, name, offset, max); ok {
		if err != nil {
			return nil, fmt.Errorf("read %s in %s: %w", name, f.in.Name, err)
		}
		return text, nil
	}
	if r, ok := f.c.engine.(reader); ok {
		text, err := r.readAt(ctx, m.Container, name, offset, max)
		switch {
		case err == nil && (len(text) > 0 || offset > 0 || max == 0):
			return text, nil
		case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil && err != nil:
			return nil, fmt.Errorf("read %s in %s: %w", name, f.in.Name, err)
		}
	}
	var text []byte
	for {
		part := min(max-len(text), MaxExecOutput)
		answer, err := f.c.inside(ctx, m.Container, home{bin: m.Bin}, insideCall{Verb: "read", Path: name, Offset: offset + int64(len(text)), Max: part, Again: true}, nil)
		if err != nil {
			return nil, fmt.Errorf("read %s in %s: %w", name, f.in.Name, err)
		}
		text = append(text, answer.stdout...)
		if len(text) >= max || len(answer.stdout) < part {
			return text, nil
		}
	}
}

func (f containerFiles) marker() (containerMarker, error) {
	m, err := f.c.readMarker(f.in.Name)
	if err != nil || m.Bin == "" {
		return m, fmt.Errorf("the instance %w", ErrGone)
	}
	return m, nil
}
