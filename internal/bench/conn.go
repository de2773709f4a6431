package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	dialTimeout = 10 * time.Second
	dialAtOnce  = 128                    // more would overrun a listener's backlog
	readBuffer  = 16 << 10               // bytes a connection
	lateClose   = time.Second            // see exchange
	listenAgain = 250 * time.Millisecond // between two refused dials that prove that nobody listens
)

// pool holds one connection a slot, each driven by one goroutine. All are
// dialled before the first request, so that dialling is in no latency.
type pool struct {
	address string
	conns   []*conn
}

// openPool dials n connections. Close the pool also after an error.
func openPool(ctx context.Context, address string, n int) (*pool, error) {
	p := &pool{address: address, conns: make([]*conn, n)}
	var group errgroup.Group
	group.SetLimit(dialAtOnce)
	for i := range p.conns {
		group.Go(func() (err error) {
			p.conns[i], err = dial(ctx, address)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return p, fmt.Errorf("open %d connections to %s: %w", n, address, err)
	}
	return p, nil
}

func (p *pool) close() {
	for _, c := range p.conns {
		c.close()
	}
}

// serve lets every slot send its requests one after another and returns when
// none has anything more to send. When ctx ends, what is in flight fails at once.
func (p *pool) serve(ctx context.Context, l *loop) {
	var slots sync.WaitGroup
	start := make(chan struct{})
	for slot := range p.conns {
		slots.Go(func() {
			<-start
			p.drive(ctx, slot, l)
		})
	}
	l.begin()
	close(start)
	slots.Wait()
}

// drive sends the requests of one slot.
func (p *pool) drive(ctx context.Context, slot int, l *loop) {
	for free := l.started; ; {
		x := l.next(slot, free)
		if x == nil {
			return
		}
		err := p.ready(ctx, slot, l)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			l.gone.Store(true)
			return // x was never sent: it does not count as issued
		case ctx.Err() != nil:
			return
		case err != nil:
			x.sent = l.clock()
		default:
			err = p.exchange(ctx, slot, x, l)
		}
		if ctx.Err() != nil && err != nil {
			why := reason(ctx)
			err, x.cut = why, why.ended != Stalled
		}
		now := l.clock()
		x.finished(now, err)
		if free = now; err == nil {
			free = x.lastByte
		}
		if err != nil || x.response.close {
			p.conns[slot].close()
			p.conns[slot] = nil
		}
		l.done(x)
	}
}

// ready makes sure that the slot has a connection which the server has not
// closed. It answers ECONNREFUSED only when nobody listens, asked twice.
func (p *pool) ready(ctx context.Context, slot int, l *loop) error {
	if c := p.conns[slot]; c != nil && !c.stale() {
		return nil
	}
	p.conns[slot].close()
	p.conns[slot] = nil
	c, err := dial(ctx, p.address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
		c, err = dial(ctx, p.address)
	}
	if err != nil {
		return fmt.Errorf("connect: %w", plain(err))
	}
	l.redials.Add(1)
	p.conns[slot] = c
	return nil
}

// exchange sends one request and reads its response. A server may close an idle
// connection at the very moment a request is written to it; then nothing of the
// request was processed, and it is sent again on a new connection, once. That
// is only assumed of a connection that had answered before and that broke at
// once and without a single byte: anything else is the server's failure.
func (p *pool) exchange(ctx context.Context, slot int, x *exchange, l *loop) error {
	c := p.conns[slot]
	again := c.used
	for {
		x.sent = l.clock()
		err := c.roundTrip(x, l)
		broken := errors.Is(err, errClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		if !again || !broken || !x.untouched() || l.clock()-x.sent > lateClose || ctx.Err() != nil {
			return err
		}
		again = false
		c.close()
		p.conns[slot] = nil
		if p.ready(ctx, slot, l) != nil {
			return err
		}
		c = p.conns[slot]
	}
}

// conn is one connection to the server, used by one goroutine.
type conn struct {
	tcp    *net.TCPConn
	used   bool        // a response came on it
	forget func() bool // stops to watch the context
	buf    []byte
}

// dial connects. When ctx ends, reads and writes of the connection fail at once.
func dial(ctx context.Context, address string) (*conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &conn{tcp: raw.(*net.TCPConn), buf: make([]byte, readBuffer)}
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
	return stale || err != nil
}

// roundTrip writes the request and reads until its response is complete. Its
// errors have no addresses in them, so that equal ones can be counted together.
func (c *conn) roundTrip(x *exchange, l *loop) error {
	if _, err := c.tcp.Write(x.wire); err != nil {
		return fmt.Errorf("send the request: %w", plain(err))
	}
	for !x.complete() {
		n, err := c.tcp.Read(c.buf)
		at := l.clock()
		if n > 0 {
			tokens, err := x.receive(c.buf[:n], at)
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
