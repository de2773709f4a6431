package supervise

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// oomCounter is the file with this process's cgroup counter of out-of-memory
// kills, read from /proc/self/cgroup (cgroups(7)): memory.events of version 2,
// memory.oom_control of version 1. Empty where there is none, as in the root
// of version 2.
func oomCounter(cgroups, mount string) string {
	for line := range strings.Lines(cgroups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var root, file string
		switch {
		case parts[1] == "":
			root, file = mount, "memory.events"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			root, file = filepath.Join(mount, "memory"), "memory.oom_control"
		default:
			continue
		}
		// In a container without its own cgroup namespace the path is the
		// host's, and its own group is what is mounted at the root.
		for _, path := range []string{filepath.Join(root, parts[2], file), filepath.Join(root, file)} {
			if oomKills(path) != nil {
				return path
			}
		}
	}
	return ""
}

// ownOOMCounter is oomCounter of this process.
func ownOOMCounter() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	return oomCounter(string(text), "/sys/fs/cgroup")
}

// oomKills reads the counter; nil where it cannot be read.
func oomKills(path string) *uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "oom_kill" {
			if n, err := strconv.ParseUint(value, 10, 64); err == nil {
				return &n
			}
		}
	}
	return nil
}

// oomKilled compares two readings; nil when either is unknown.
func oomKilled(before, after *uint64) *bool {
	if before == nil || after == nil {
		return nil
	}
	rose := *after > *before
	return &rose
}
