package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// CachedBinary copies the running sweep binary to cacheDir/bin, under a name
// with its hash, and returns the copy's path. Held processes run that copy, so
// that they outlive `go run` (which removes its binary) and an upgrade. It may
// be called any number of times and concurrently: a copy that is there and
// whole is used as it is.
func CachedBinary(ctx context.Context, cacheDir string) (string, error) {
	self, err := openSelf()
	if err != nil {
		return "", fmt.Errorf("read the running sweep binary: %w", err)
	}
	defer self.Close()
	return cacheFile(ctx, self, cacheDir)
}

// CacheBinary does the same with another sweep binary.
func CacheBinary(ctx context.Context, file, cacheDir string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read the sweep binary: %w", err)
	}
	defer f.Close()
	return cacheFile(ctx, f, cacheDir)
}

func cacheFile(ctx context.Context, self *os.File, cacheDir string) (string, error) {
	sum, size, err := hashOf(ctx, self)
	if err != nil {
		return "", fmt.Errorf("read the sweep binary %s: %w", self.Name(), err)
	}
	path, err := filepath.Abs(filepath.Join(cacheDir, "bin", "sweep-"+sum[:16]))
	if err != nil {
		return "", fmt.Errorf("cache the sweep binary: %w", err)
	}
	if !isWhole(ctx, path, sum, size) {
		if err := copySelf(ctx, self, path); err != nil {
			return "", fmt.Errorf("cache the sweep binary: %w", err)
		}
		if !isWhole(ctx, path, sum, size) {
			return "", fmt.Errorf("cache the sweep binary: %s is not what was written; is the disk sound?", path)
		}
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return "", fmt.Errorf("%s may not be executed (%w): the cache directory must not be on a noexec mount; set XDG_CACHE_HOME to one that may execute", path, err)
	}
	return path, nil
}

// openSelf prefers the kernel's link to the running image: the file at the
// path it was started from may be gone, or be a newer version.
func openSelf() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func hashOf(ctx context.Context, f io.ReadSeeker) (sum string, size int64, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", 0, err
	}
	h := sha256.New()
	if size, err = io.Copy(h, untilDone{ctx, f}); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// isWhole compares the content too: a cached file may be damaged.
func isWhole(ctx context.Context, path, sum string, size int64) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size || info.Mode().Perm() != 0o755 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	got, _, err := hashOf(ctx, f)
	return err == nil && got == sum
}

func copySelf(ctx context.Context, self io.ReadSeeker, path string) error {
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return putFile(ctx, path, self, 0o755)
}

// putFile writes a file atomically and makes its parents.
func putFile(ctx context.Context, path string, data io.Reader, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode.Perm()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }() // does nothing after the replacement
	if _, err := io.Copy(f, untilDone{ctx, data}); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// untilDone ends a copy when ctx does.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
