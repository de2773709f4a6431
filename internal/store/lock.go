//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lockTime is how long the lock is waited for: UnderWay holds it for a moment
// to see whether it is free.
const lockTime = time.Second

// lockFile takes the advisory lock of an open file. It ends with the
// descriptor, so with the process.
func lockFile(f *os.File) error {
	for until := time.Now().Add(lockTime); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case time.Now().After(until):
			return ErrLocked
		}
	}
}

// UnderWay tells whether a runner is at work on the night: one that writes its
// journal, on this machine.
func (n *Night) UnderWay() (bool, error) {
	f, err := os.Open(n.EventsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) // shared: two who look do not see each other
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
