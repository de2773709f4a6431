package bench

import (
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestLoadFloor is no test: it is the least that a client in Go can do, the floor
// that TestLoad lays the client on. The same sockets, one epoll loop, reads of 64
// KiB that are thrown away: the end of an answer is known by its length.
func TestLoadFloor(t *testing.T) {
	spec, out := loadSpec(t, "floor")
	e, err := parseEndpoint(spec.URL)
	if err != nil {
		t.Fatal(err)
	}
	to, err := resolve(t.Context(), e.address)
	if err != nil {
		t.Fatal(err)
	}
	w := spec.level().Workload
	in, asked := w.Lengths(spec.Prompts)
	build := builder(e, w, spec.level().Key(), 32000, in, asked)
	length := 0
	for _, event := range pacedEvents(spec.Tokens) {
		length += len(event)
	}
	p, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	fds, left, wires := make([]int, spec.Streams), make([]int, spec.Streams), make([][]byte, spec.Prompts)
	for i := range wires {
		wires[i] = build(i).wire
	}
	for i := range fds {
		if fds[i], err = connect(to); err != nil {
			t.Fatal(err)
		}
		for _, address := to.address(); unix.Connect(fds[i], address) == unix.EALREADY; {
			time.Sleep(100 * time.Microsecond)
		}
		_ = unix.SetsockoptInt(fds[i], unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 0)
		if err := p.watch(unix.EPOLL_CTL_ADD, fds[i], unix.EPOLLIN, int32(i), 0); err != nil {
			t.Fatal(err)
		}
	}

	buf := make([]byte, 64<<10)
	next := 0
	start := func(i int) {
		if n, err := send(fds[i], wires[next]); err != nil || n < len(wires[next]) {
			t.Fatalf("wrote %d of %d: %v", n, len(wires[next]), err)
		}
		left[i] = length
		next++
	}
	before, begun := usage(), time.Now()
	for i := range fds {
		start(i)
	}
	for over := 0; over < spec.Prompts; {
		ready, err := p.wait(0, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range ready {
			n, _, code := unix.RawSyscall(unix.SYS_READ, uintptr(fds[event.Fd]), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
			if code != 0 || n == 0 {
				t.Fatalf("read %d: %v", n, code)
			}
			if left[event.Fd] -= int(n); left[event.Fd] == 0 {
				if over++; next < spec.Prompts {
					start(int(event.Fd))
				}
			}
		}
	}
	writeGob(t, out, loadResult{CPU: usage() - before, Took: time.Since(begun)})
}
