package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Files reaches this machine's own files: nothing is isolated.
func (p *Process) Files(Instance) Files { return processFiles{} }

type processFiles struct{}

func (processFiles) Put(ctx context.Context, path string, data io.Reader, mode fs.FileMode) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("put %q: the path is not absolute", path)
	}
	if err := putFile(ctx, path, data, mode); err != nil {
		return fmt.Errorf("put %s: %w", path, err)
	}
	return nil
}

func (processFiles) ReadAt(ctx context.Context, path string, offset int64, max int) ([]byte, error) {
	if !filepath.IsAbs(path) || offset < 0 || max < 0 {
		return nil, fmt.Errorf("read %q at %d, %d bytes: an absolute path and no negative numbers are expected", path, offset, max)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	// A named pipe would block without O_NONBLOCK.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	defer f.Close()
	return readPart(f, offset, max)
}

// readPart reads up to max bytes of a regular file.
func readPart(f *os.File, offset int64, max int) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", f.Name())
	}
	if left := info.Size() - offset; int64(max) > left {
		max = int(left) // no more memory than there is to read
	}
	if max <= 0 {
		return nil, nil
	}
	buf := make([]byte, max)
	n, err := f.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	return buf[:n], nil
}
