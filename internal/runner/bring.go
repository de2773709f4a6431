package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sweep/internal/launch"
)

// bringLog copies what is new of the server's output to server.log.
func (a *attempt) bringLog(ctx context.Context) (err error) {
	path := filepath.Join(a.Store.AttemptDir(a.decision.ref, a.record.Attempt), "server.log")
	f, size, err := openEnd(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := a.server.CopyLog(ctx, f, size); err != nil {
		return fmt.Errorf("copy the server's log of run %s: %w", a.record.Run, err)
	}
	return nil
}

// maxBrought bounds a file that is brought out of an instance, in bytes: what is
// in a container is not believed.
const maxBrought = 2 << 30

// bringFile copies a file out of an instance, going on where an earlier copy
// was cut off.
func bringFile(ctx context.Context, files launch.Files, from, to string) (err error) {
	if _, err := files.ReadAt(ctx, from, 0, 1); err != nil {
		return err
	}
	f, offset, err := openEnd(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		if offset > maxBrought {
			return fmt.Errorf("read %s: it is larger than %d GiB, which no bench writes", from, maxBrought>>30)
		}
		chunk, err := files.ReadAt(ctx, from, offset, 1<<20)
		if err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		if len(chunk) == 0 {
			return nil
		}
		n, err := f.Write(chunk)
		offset += int64(n)
		if err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
	}
}

// openEnd opens a file of a run for appending and tells how long it is.
func openEnd(path string) (*os.File, int64, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, 0, fmt.Errorf("make %s: %w", filepath.Dir(path), err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, err)
	}
	size, err := f.Seek(0, 2)
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("seek in %s: %w", path, err)
	}
	return f, size, nil
}
