//go:build unix

package move

import (
	"io/fs"
	"syscall"
)

// inodeOf is the number of a file on its disk.
func inodeOf(info fs.FileInfo) (uint64, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(s.Ino), true //nolint:unconvert // its type differs between systems
}
