package launch

import (
	"os"
	"path/filepath"
	"time"
)

// pruneAge is how long a binary of another version stays: a night that it holds
// may still go on.
const pruneAge = 7 * 24 * time.Hour

// pruneBinaries removes sweep binaries of other versions, and what a cut-off
// installation left, that are old and that no process here runs. What cannot be
// removed stays.
func pruneBinaries(dir string) {
	used := map[string]bool{}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil {
			used[path] = true
		}
	}
	for _, pattern := range []string{"sweep-*", ".new.*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			if info, err := os.Lstat(file); err == nil && !used[file] && time.Since(info.ModTime()) > pruneAge {
				_ = os.Remove(file)
			}
		}
	}
}
