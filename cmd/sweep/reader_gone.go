package main

import "golang.org/x/sys/unix"

// readerGone tells whether whoever reads one of these descriptors went away.
// The signal for a broken pipe comes for any connection that breaks under a
// write, a container daemon's that was killed for one, and only that of our
// own output is a wish to stop.
func readerGone(fds ...int32) bool {
	polled := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		polled[i] = unix.PollFd{Fd: fd}
	}
	if _, err := unix.Poll(polled, 0); err != nil {
		return false
	}
	for _, p := range polled {
		if p.Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			return true
		}
	}
	return false
}
