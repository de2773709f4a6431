package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// initProcess is the first process of a container, known again by its start.
type initProcess struct {
	pid   int
	start string
}

// peek reads a file of a container through the root of its first process; ok
// is false where this host may not, or it is not there to be looked through.
// The path is resolved within that root: a link cannot lead out of it.
func (c *Containers) peek(ctx context.Context, name, file string, offset int64, max int) (text []byte, ok bool, err error) {
	if os.Geteuid() != 0 {
		return nil, false, nil
	}
	init, ok := c.initOf(ctx, name)
	if !ok {
		return nil, false, nil
	}
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", init.pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil || startOf(init.pid) != init.start { // another process has the number by now
		if err == nil {
			unix.Close(root)
		}
		c.mu.Lock()
		delete(c.inits, name)
		c.mu.Unlock()
		return nil, false, nil //nolint:nilerr // asked through the tool instead
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, strings.TrimLeft(file, "/"), &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EPERM) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, &os.PathError{Op: "open", Path: file, Err: err}
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	text, err = readPart(f, offset, max)
	return text, true, err
}

// initOf is the first process of a container, asked of the tool once.
func (c *Containers) initOf(ctx context.Context, name string) (initProcess, bool) {
	c.mu.Lock()
	known, ok := c.inits[name]
	c.mu.Unlock()
	if ok {
		return known, true
	}
	found, err := c.engine.look(ctx, name)
	if err != nil || !found.running || found.pid <= 0 {
		return initProcess{}, false
	}
	known = initProcess{found.pid, startOf(found.pid)}
	if known.start == "" {
		return initProcess{}, false
	}
	c.mu.Lock()
	c.inits[name] = known
	c.mu.Unlock()
	return known, true
}

// startOf is when a process started, in ticks since the boot; "" for none.
func startOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	rest := string(text)
	if i := strings.LastIndex(rest, ") "); i >= 0 { // the name before it may hold anything
		rest = rest[i+2:]
	}
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19] // field 22 of the line
}
