package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stateListen is TCP_LISTEN as /proc/net/tcp writes it.
const stateListen = "0A"

// listeners finds the sockets that listen on a port of this machine's network
// namespace, and the processes that hold them.
func listeners(port int) []listener {
	inodes := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue // no such family here
		}
		for _, inode := range listening(string(table), port) {
			inodes[inode] = true
		}
	}
	if len(inodes) == 0 {
		return nil
	}
	found := holders(inodes)
	if len(found) == 0 {
		return []listener{{}}
	}
	return found
}

// listening returns the inodes of the sockets in a /proc/net/tcp table that
// listen on a port.
func listening(table string, port int) []string {
	var inodes []string
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		// sl local_address rem_address st queues timer retransmits uid timeout inode
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == stateListen && strings.HasSuffix(f[1], suffix) {
			inodes = append(inodes, f[9])
		}
	}
	return inodes
}

// holders looks through every process that may be looked at.
func holders(inodes map[string]bool) []listener {
	var found []listener
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range pids {
		fds, _ := os.ReadDir(dir + "/fd")
		for _, fd := range fds {
			to, err := os.Readlink(dir + "/fd/" + fd.Name())
			if err != nil || !inodes[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(dir))
			cmdline, _ := os.ReadFile(dir + "/cmdline")
			argv := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
			found = append(found, listener{pid: pid, command: shortCommand(argv)})
			break
		}
	}
	return found
}
