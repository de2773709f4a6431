package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// LockPath is where the host's one lock for sweeps is: $SWEEP_LOCK, else in
// the directory that hosts have for locks of all users, else in stateDir.
func LockPath(stateDir string) string {
	if path := os.Getenv("SWEEP_LOCK"); path != "" {
		return path
	}
	const shared = "/run/lock"
	if info, err := os.Stat(shared); err == nil && info.IsDir() && info.Mode().Perm()&0o002 != 0 {
		return filepath.Join(shared, "sweep.lock")
	}
	return filepath.Join(stateDir, "host.lock")
}

// lockHost takes the lock. The kernel frees it when its holder dies, however
// it dies.
func lockHost(path string) (unlock func(), err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("%w: open the host's lock: %w", ErrHost, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := os.ReadFile(path)
		f.Close()
		return nil, fmt.Errorf("%w: another sweep is running here (%s); wait for it (`sweep status`), or end it with `sweep stop NAME`",
			ErrHost, strings.TrimSpace(string(owner)))
	}
	_ = f.Truncate(0)
	_, _ = fmt.Fprintf(f, "pid %d since %s\n", os.Getpid(), time.Now().Format(time.RFC3339))
	return func() {
		_ = f.Truncate(0)
		f.Close()
	}, nil
}

// Busy tells whether a sweep runs on this host now. The lock is only tried, for
// a moment, and shared: two who look do not see each other.
func Busy(stateDir string) bool {
	f, err := os.Open(LockPath(stateDir))
	if err != nil {
		return false // it was never taken
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// openLock opens the file, which may be another user's: one that is there is
// opened without O_CREAT, which the kernel refuses for foreign files in shared
// directories.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	_ = f.Chmod(0o666) // against the umask: it is there for all users
	return f, nil
}
