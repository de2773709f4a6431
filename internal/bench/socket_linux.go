package bench

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// target is the one address that all connections go to.
type target struct {
	at   netip.AddrPort
	zone uint32 // of an IPv6 address that is only known on one link
}

// resolve finds the target. Of a name with several addresses it is the first that
// answers.
func resolve(ctx context.Context, address string) (target, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		d := net.Dialer{Timeout: dialTimeout}
		probe, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return target{}, err
		}
		defer probe.Close()
		at = probe.RemoteAddr().(*net.TCPAddr).AddrPort()
	}
	t := target{at: netip.AddrPortFrom(at.Addr().Unmap(), at.Port())}
	if zone := at.Addr().Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return target{}, err
		}
		t.zone = uint32(link.Index)
	}
	return t, nil
}

// address is the target as the kernel wants it. Each call has its own: it is
// written to while it is used.
func (t target) address() (family int, _ unix.Sockaddr) {
	if t.at.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(t.at.Port()), Addr: t.at.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(t.at.Port()), Addr: t.at.Addr().As16(), ZoneId: t.zone}
}

// connect begins to open a non-blocking socket to a target. It is not known to
// the Go runtime's poller, which would be woken by each of its events as well.
func connect(to target) (fd int, err error) {
	family, address := to.address()
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) // without it, times are those of the read
	switch err = unix.Connect(fd, address); err {
	case nil, unix.EINPROGRESS, unix.EINTR:
		return fd, nil
	}
	unix.Close(fd)
	return -1, err
}

// connected is how opening a socket ended.
func connected(fd int) error {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if code != 0 {
		return unix.Errno(code)
	}
	return nil
}

// send writes what the socket takes now.
func send(fd int, data []byte) (n int, err error) {
	for {
		n, _, code := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch code {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, code
		}
	}
}

// sharedBuffer is the room for one read: what comes at once of one stream fits
// into it, and one for all connections of a loop stays in the processor's cache.
const sharedBuffer = 64 << 10

// reader reads sockets, all into the same buffer, with the time at which the
// kernel received the last bytes of each read. Its calls do not wait, so they are
// made without telling the scheduler: that would cost as much as the copy.
type reader struct {
	buf     [sharedBuffer]byte
	control [8]uint64 // aligned room for one control message
	part    unix.Iovec
	message unix.Msghdr
}

func newReader() *reader {
	r := &reader{}
	r.part.Base = &r.buf[0]
	r.part.SetLen(len(r.buf))
	r.message.Iov = &r.part
	r.message.SetIovlen(1)
	r.message.Control = (*byte)(unsafe.Pointer(&r.control[0]))
	return r
}

// read returns what came, and when by the kernel's wall clock; zero: it did not
// say. No bytes and no error are the end of the stream.
func (r *reader) read(fd int) (data []byte, received time.Duration, err error) {
	for {
		r.message.SetControllen(int(unsafe.Sizeof(r.control)))
		n, _, code := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.message)), unix.MSG_DONTWAIT)
		switch code {
		case 0:
			return r.buf[:n], r.stamp(), nil
		case unix.EINTR:
		default:
			return nil, 0, code
		}
	}
}

// stamp is the time in the control message of the last read, from 1970.
func (r *reader) stamp() time.Duration {
	if int(r.message.Controllen) < unix.CmsgLen(int(unsafe.Sizeof(unix.Timespec{}))) {
		return 0
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[0]))
	if head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	at := (*unix.Timespec)(unsafe.Add(unsafe.Pointer(&r.control[0]), unix.CmsgLen(0)))
	return time.Duration(at.Nano())
}

// quiet tells whether an idle socket is still open and silent.
func quiet(fd int) bool {
	var one [1]byte
	for {
		_, _, err := unix.Recvfrom(fd, one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return err == unix.EAGAIN
		}
	}
}

// localPorts is how many connections to one server this system has ports for; -1: not known.
func localPorts() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if err != nil {
		return -1
	}
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil || high < low {
		return -1
	}
	return high - low + 1
}
