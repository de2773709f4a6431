package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	dialAtOnce  = 128                    // more would overrun a listener's backlog
	readBuffer  = 16 << 10               // bytes a connection
	lateClose   = time.Second            // see exchange
	listenAgain = 250 * time.Millisecond // between two refused dials that prove that nobody listens
)

// conn is one connection to the server, used by one goroutine.
type conn struct {
	tcp    *net.TCPConn
	stream net.Conn    // tcp, or TLS over it
	used   bool        // a response came on it
	forget func() bool // stops to watch the context
	buf    []byte
}

// dial connects. When ctx ends, reads and writes of the connection fail at once.
func dial(ctx context.Context, e endpoint) (*conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	raw, err := d.DialContext(ctx, "tcp", e.address)
	if err != nil {
		return nil, err
	}
	c := &conn{tcp: raw.(*net.TCPConn), stream: raw, buf: make([]byte, readBuffer)}
	if e.secure {
		if c.stream, err = handshake(ctx, raw, e); err != nil {
			raw.Close()
			return nil, err
		}
	}
	c.forget = context.AfterFunc(ctx, func() { _ = c.tcp.SetDeadline(time.Unix(1, 0)) })
	return c, nil
}

// close is safe on a nil connection.
func (c *conn) close() {
	if c != nil {
		c.forget()
		_ = c.tcp.Close()
	}
}

// stale tells, without waiting, whether the server has closed the connection or
// sent something that nobody asked for.
func (c *conn) stale() bool {
	stale := true
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Read(func(fd uintptr) bool {
		var err error
		for {
			_, _, err = syscall.Recvfrom(int(fd), c.buf[:1], syscall.MSG_PEEK)
			if err != syscall.EINTR {
				break
			}
		}
		stale = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK
		return true
	})
	if err == nil && stale && c.stream != net.Conn(c.tcp) {
		return c.staleTLS()
	}
	return stale || err != nil
}

// roundTrip writes the request and reads until its response is complete. Its
// errors have no addresses in them, so that equal ones can be counted together.
func (c *conn) roundTrip(x *exchange, l *loop) error {
	x.reserve()
	if _, err := c.stream.Write(x.wire); err != nil {
		return fmt.Errorf("send the request: %w", plain(err))
	}
	for !x.complete() {
		n, err := c.stream.Read(c.buf)
		at := l.clock()
		if n > 0 {
			tokens, err := x.receive(c.buf[:n], at, unstamped)
			if tokens {
				l.token(at)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return x.closed()
		default:
			return fmt.Errorf("read the response: %w", plain(err))
		}
	}
	c.used = true
	return nil
}

// plain takes the addresses out of a network error.
func plain(err error) error {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, os.ErrDeadlineExceeded):
		return os.ErrDeadlineExceeded
	}
	return err
}
