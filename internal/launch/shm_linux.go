package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// shmDir is where POSIX shared memory lies.
const shmDir = "/dev/shm"

// shmMarks begin the names of segments that a server of this kind makes: NCCL,
// Python's multiprocessing, PyTorch, CUDA's own.
var shmMarks = []string{"nccl-", "psm_", "sem.mp-", "torch_", "cuda.shm.", "sglang"}

// removeShm removes the shared memory that a server of ours left on this
// machine, and says what it could not: segments of this user with the names of
// such servers, made since the server was started, that no live process has
// open. They keep host memory until the next reboot otherwise.
func removeShm(dir string, since time.Time) (removed int, left []string) {
	var used map[string]bool
	for _, mark := range shmMarks {
		paths, _ := filepath.Glob(filepath.Join(dir, mark+"*"))
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since.Truncate(time.Second)) {
				continue
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
				continue
			}
			if used == nil {
				used = openIn(dir)
			}
			if used[path] {
				continue
			}
			if err := os.Remove(path); err != nil {
				left = append(left, fmt.Sprintf("shared memory %s: %v", path, err))
				continue
			}
			removed++
		}
	}
	return removed, left
}

// openIn lists the files of a directory that any process has open or mapped.
func openIn(dir string) map[string]bool {
	used := map[string]bool{}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, dir+"/") {
			used[target] = true
		}
	}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, path := range maps {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if i := strings.Index(line, dir+"/"); i >= 0 {
				used[strings.TrimSpace(line[i:])] = true
			}
		}
	}
	return used
}
