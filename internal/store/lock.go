//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the advisory lock of an open file without waiting. It ends
// with the descriptor, so with the process.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
