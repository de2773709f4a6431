package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// makeDir makes a directory and its parents, for the owner only, such that
// they are still there after a power cut.
func makeDir(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("is there and is not a directory")}
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes what was created, renamed or removed in a directory durable.
// A rename alone survives the death of a process, not that of the machine.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeJSON replaces the file at path as a whole: a reader, or a start after a
// power cut, sees the old file or the new one.
func writeJSON(path string, v any) error {
	f, err := pendingJSON(path, v)
	if err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return syncDir(filepath.Dir(path))
}

// createJSON is writeJSON for a file that must not be there yet. When it is,
// the error is fs.ErrExist and the file stays as it was, however close two
// writers came.
func createJSON(path string, v any) error {
	f, err := pendingJSON(path, v)
	if err != nil {
		return err
	}
	err = f.Sync()
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		// No hard links here (exFAT, some network shares): look, then rename.
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = f.CloseAtomicallyReplace()
		} else if err == nil {
			err = fs.ErrExist
		}
	}
	if err = errors.Join(err, f.Cleanup()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// pendingJSON writes v to a temporary file beside path.
func pendingJSON(path string, v any) (*renameio.PendingFile, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(0o600))
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(append(data, '\n')); err != nil {
		return nil, errors.Join(err, f.Cleanup())
	}
	return f, nil
}

// copyWhole writes what r holds durably to a file of that name.
func copyWhole(path string, r io.Reader) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err = errors.Join(err, f.Cleanup()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
