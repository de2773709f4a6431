package bench

import (
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Entries of a poller that are no connection.
const (
	wokenUp int32 = -1 - iota
	timeUp
)

// poller waits for sockets, for one moment, and for a call from another
// goroutine, all by epoll. Readiness is told as long as it lasts, so that one
// read an event is enough.
type poller struct {
	epoll, wakeup, timer int
	ready                []unix.EpollEvent
	armed                time.Duration // what the timer is set to; 0: nothing

	mu     sync.Mutex // a late wake must not write to what the descriptor has become
	closed bool
}

func newPoller() (p *poller, err error) {
	p = &poller{epoll: -1, wakeup: -1, timer: -1, ready: make([]unix.EpollEvent, 512)}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return p, err
	}
	if p.wakeup, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return p, err
	}
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return p, err
	}
	if err = p.watch(unix.EPOLL_CTL_ADD, p.wakeup, unix.EPOLLIN, wokenUp, 0); err != nil {
		return p, err
	}
	return p, p.watch(unix.EPOLL_CTL_ADD, p.timer, unix.EPOLLIN, timeUp, 0)
}

func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, fd := range []int{p.timer, p.wakeup, p.epoll} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// watch adds or changes what a socket is watched for. Events carry index and
// generation, so that one of a socket that was replaced is told apart.
func (p *poller) watch(operation, fd int, events uint32, index, generation int32) error {
	return unix.EpollCtl(p.epoll, operation, fd, &unix.EpollEvent{Events: events, Fd: index, Pad: generation})
}

// wake ends a wait from another goroutine.
func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	one := uint64(1)
	_, _ = unix.Write(p.wakeup, (*[8]byte)(unsafe.Pointer(&one))[:])
}

// wait returns what is ready, at the latest at a moment of the clock that shows
// now; a moment of zero is never. Without patience it only looks.
func (p *poller) wait(now, until time.Duration, patient bool) ([]unix.EpollEvent, error) {
	timeout := 0
	if patient {
		timeout = -1
	}
	if until != p.armed {
		p.armed = until
		var spec unix.ItimerSpec // zero: off
		if until > 0 {
			spec.Value = unix.NsecToTimespec(int64(max(until-now, 1)))
		}
		if err := unix.TimerfdSettime(p.timer, 0, &spec, nil); err != nil {
			return nil, err
		}
	}
	for {
		n, err := unix.EpollWait(p.epoll, p.ready, timeout)
		if err == nil {
			return p.ready[:n], nil
		}
		if err != unix.EINTR {
			return nil, err
		}
	}
}

// told takes note of an event that is no connection's.
func (p *poller) told(index int32) {
	var count [8]byte
	if index == timeUp {
		p.armed = 0
		_, _ = unix.Read(p.timer, count[:])
		return
	}
	_, _ = unix.Read(p.wakeup, count[:])
}
