package check

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// diskOf is the file system that a path is on, or would be made on; nil where
// it cannot be told.
func diskOf(path string) *Disk {
	at := filepath.Clean(path)
	for {
		if _, err := os.Stat(at); err == nil {
			break
		}
		if at == "/" || at == "." {
			return nil
		}
		at = filepath.Dir(at)
	}
	var s unix.Statfs_t
	if unix.Statfs(at, &s) != nil {
		return nil
	}
	d := Disk{Path: path, Total: s.Blocks * uint64(s.Bsize), Free: s.Bavail * uint64(s.Bsize)}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	d.Mount, d.Type = mountOf(at)
	return &d
}

// mountOf finds the mount that a path is on: the longest that it begins with,
// the last of those that hide each other.
func mountOf(path string) (mount, kind string) {
	text, err := readSome("/proc/self/mountinfo", 4<<20)
	if err != nil {
		return "", ""
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(types) < 1 {
			continue
		}
		m := unescape.Replace(fields[4])
		if len(m) >= len(mount) && (m == "/" || path == m || strings.HasPrefix(path, m+"/")) {
			mount, kind = m, types[0]
		}
	}
	return mount, kind
}

// hardLimits are those of locked memory and of open files. The soft ones say
// nothing here: Go raises its own, and sglang raises its own.
func hardLimits() (memlock, nofile *uint64) {
	limit := func(what int) *uint64 {
		var l unix.Rlimit
		if unix.Getrlimit(what, &l) != nil {
			return nil
		}
		return &l.Max
	}
	return limit(unix.RLIMIT_MEMLOCK), limit(unix.RLIMIT_NOFILE)
}

// clockSynchronised tells whether the kernel's clock follows another one; nil
// where the kernel does not say.
func clockSynchronised() *bool {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return nil
	}
	const timeError = 5
	good := state != timeError
	return &good
}

// heldPorts are those of the given ports that something listens on here.
func heldPorts(ports []int) []Held {
	inodes := map[string]int{} // to port
	wanted := map[int]bool{}
	for _, p := range ports {
		wanted[p] = true
	}
	taken := map[int]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := readSome(file, 16<<20)
		if err != nil {
			continue // no such family here
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			const listening = "0A"
			if len(f) < 10 || f[3] != listening {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err == nil && wanted[int(port)] {
				taken[int(port)] = true
				inodes["socket:["+f[9]+"]"] = int(port)
			}
		}
	}
	holders := map[int]string{}
	if len(inodes) > 0 {
		holders = socketHolders(inodes)
	}
	var held []Held
	for _, p := range ports {
		if taken[p] {
			held = append(held, Held{Port: p, By: holders[p]})
		}
	}
	return held
}

// socketHolders names the processes that have sockets open, by port.
func socketHolders(sockets map[string]int) map[int]string {
	holders := map[int]string{}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if port, ok := sockets[target]; ok {
			pid := strings.Split(link, "/")[2]
			holders[port] = "pid " + pid + " (" + firstLine("/proc/"+pid+"/comm", "") + ")"
		}
	}
	return holders
}
