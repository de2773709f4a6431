package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// pool is the portable transport: one connection a slot, each driven by one
// goroutine.
type pool struct {
	endpoint endpoint
	conns    []*conn
}

// openPool dials n connections. Close the pool also after an error.
func openPool(ctx context.Context, e endpoint, n int) (*pool, error) {
	p := &pool{endpoint: e, conns: make([]*conn, n)}
	var group errgroup.Group
	group.SetLimit(dialAtOnce)
	for i := range p.conns {
		group.Go(func() (err error) {
			p.conns[i], err = dial(ctx, e)
			return err
		})
	}
	return p, group.Wait()
}

func (p *pool) sockets() Sockets { return Portable }

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
		x := l.next(ctx, slot, free)
		if x == nil {
			return
		}
		err := p.ready(ctx, slot, l)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			l.dead()
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
	c, err := dial(ctx, p.endpoint)
	if errors.Is(err, syscall.ECONNREFUSED) {
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
		c, err = dial(ctx, p.endpoint)
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
