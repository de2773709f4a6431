package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machine is where processes are looked up. Tests give it other files.
type machine struct {
	proc string // a mount of procfs
	boot string // the file that holds the boot id
}

func thisMachine() machine {
	return machine{proc: "/proc", boot: "/proc/sys/kernel/random/boot_id"}
}

// bootID is new after every boot, and in a container after every start of it.
func (m machine) bootID() (string, error) {
	text, err := os.ReadFile(m.boot)
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// process is what /proc/PID/stat tells of one process.
type process struct {
	identity
	name    string
	state   byte
	parent  int
	group   int
	session int
	threads int
}

// alive is false for zombies: they hold no memory, ports or GPUs, and whoever
// is their parent may take long to reap them. A process whose first thread has
// ended also reads Z but has more threads.
func (p process) alive() bool {
	return p.state != 'Z' && p.state != 'X' && p.state != 'x' || p.threads > 1
}

// parseStat reads one line of /proc/PID/stat (proc(5)). The name in
// parentheses may hold anything, spaces and parentheses too, so the fields are
// counted from the last closing one.
func parseStat(line []byte) (process, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, errors.New("no name in parentheses")
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	if err != nil || pid <= 0 {
		return process{}, errors.New("no pid")
	}
	fields := bytes.Fields(line[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return process{}, fmt.Errorf("%d fields after the name, at least 20 expected", len(fields))
	}
	p := process{identity: identity{PID: pid}, name: string(line[open+1 : end]), state: fields[0][0]}
	for _, want := range []struct {
		field int // as proc(5) counts
		into  *int
	}{{4, &p.parent}, {5, &p.group}, {6, &p.session}, {20, &p.threads}} {
		if *want.into, err = strconv.Atoi(string(fields[want.field-3])); err != nil {
			return process{}, fmt.Errorf("field %d: %w", want.field, err)
		}
	}
	if p.Start, err = strconv.ParseUint(string(fields[22-3]), 10, 64); err != nil {
		return process{}, fmt.Errorf("field 22: %w", err)
	}
	return p, nil
}

// process looks one up; false when there is none.
func (m machine) process(pid int) (process, bool) {
	return m.readStat(strconv.Itoa(pid), make([]byte, 1024))
}

// processes is every process there is now. Ones that come or go meanwhile may
// be missing, so whoever needs all of a tree asks again.
func (m machine) processes() (map[int]process, error) {
	dir, err := os.Open(m.proc)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all, buf := make(map[int]process, len(names)), make([]byte, 1024)
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if p, ok := m.readStat(name, buf); ok {
			all[p.PID] = p
		}
	}
	return all, nil
}

// readStat uses plain system calls: the supervisor looks at every process once
// a second beside a benchmark, and os.ReadFile costs more than twice as many.
func (m machine) readStat(name string, buf []byte) (process, bool) {
	fd, err := unix.Open(filepath.Join(m.proc, name, "stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	n, err := unix.Read(fd, buf)
	unix.Close(fd)
	if err != nil || n <= 0 {
		return process{}, false
	}
	p, err := parseStat(buf[:n])
	return p, err == nil
}

// signal sends a signal to this very process. The handle is taken before the
// identity is compared, so where the kernel has pidfds (since 5.3) a pid that
// is recycled in between cannot be hit.
func (m machine) signal(id identity, sig os.Signal) error {
	handle, err := os.FindProcess(id.PID)
	if err != nil {
		return fmt.Errorf("find process %d: %w", id.PID, err)
	}
	defer func() { _ = handle.Release() }()
	if p, ok := m.process(id.PID); !ok || p.identity != id {
		return os.ErrProcessDone
	}
	return handle.Signal(sig)
}
