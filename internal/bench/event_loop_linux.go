package bench

import (
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// buildPause is how long a loop waits for a request that is not built yet.
const buildPause = 500 * time.Microsecond

// sendsAtOnce is how many requests a loop sends before it looks for what came.
const sendsAtOnce = 16

// eventLoop drives its share of the slots, in one goroutine.
type eventLoop struct {
	target target
	poller *poller
	reader *reader
	slots  []*slot

	ctx  context.Context // of open, then of serve
	loop *loop           // nil while connections are opened
	base time.Time       // the zero of clock

	free    []*slot // have nothing to send yet
	hungry  []*slot // of these, asked when no request was built
	paced   []*slot // have a request whose time has not come, in the order of time
	dialing []*slot // have a deadline: connecting, or pausing before the second try
	active  int     // slots that are not done
	failure error   // of opening
}

func newEventLoop(to target) (*eventLoop, error) {
	p, err := newPoller()
	return &eventLoop{target: to, poller: p, reader: newReader(), base: time.Now()}, err
}

// close closes every connection. The loop must not be serving.
func (e *eventLoop) close() {
	for _, s := range e.slots {
		e.hangUp(s)
	}
	e.poller.close()
}

func (e *eventLoop) clock() time.Duration { return time.Since(e.base) }

// open dials a connection for each slot, so many at once.
func (e *eventLoop) open(ctx context.Context, atOnce int) error {
	stop := context.AfterFunc(ctx, e.poller.wake)
	defer stop()
	e.ctx = ctx
	for begun := 0; begun < len(e.slots) || len(e.dialing) > 0; {
		for ; begun < len(e.slots) && len(e.dialing) < atOnce && e.failure == nil; begun++ {
			e.dial(e.slots[begun])
		}
		if e.failure == nil && len(e.dialing) > 0 {
			if err := e.step(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.failure != nil {
			return e.failure
		}
	}
	return nil
}

// serve sends the requests of the slots until there are none left.
func (e *eventLoop) serve(ctx context.Context, l *loop) error {
	e.ctx, e.loop, e.base = ctx, l, l.base
	e.active = len(e.slots)
	for _, s := range e.slots {
		s.freed = l.started
	}
	e.free = append(e.free, e.slots...)
	for e.feed(); e.active > 0 && ctx.Err() == nil; e.feed() {
		if err := e.step(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		e.abandon(reason(ctx))
	}
	return nil
}

// feed gives free slots their next request, a few at a time: a send takes as long
// as several reads, and where many streams end together those that go on must not
// wait for all of the sends.
func (e *eventLoop) feed() {
	for n := 0; n < sendsAtOnce && len(e.free) > 0 && e.ctx.Err() == nil; n++ {
		s := e.free[0]
		e.free = slices.Delete(e.free, 0, 1)
		x, over := e.loop.take(s.number, s.freed)
		switch {
		case over:
			e.done(s)
		case x == nil:
			e.hungry = append(e.hungry, s)
		case x.paced && x.scheduled > e.clock():
			s.x, s.state = x, waiting
			e.paced = append(e.paced, s)
		default:
			e.launch(s, x)
		}
	}
}

// step waits for what happens next, at most until the next deadline, and reacts.
func (e *eventLoop) step() error {
	ready, err := e.poller.wait(e.clock(), e.deadline(), len(e.free) == 0)
	if err != nil {
		return os.NewSyscallError("epoll", err)
	}
	for i := range ready {
		event := &ready[i]
		if event.Fd < 0 {
			e.poller.told(event.Fd)
			continue
		}
		if s := e.slots[event.Fd]; s.fd >= 0 && s.generation == event.Pad {
			e.react(s, event.Events)
		}
	}
	e.expire()
	return nil
}

// deadline is the next moment at which something is due without an event; zero: never.
func (e *eventLoop) deadline() (next time.Duration) {
	earlier := func(at time.Duration) {
		if next == 0 || at < next {
			next = at
		}
	}
	if len(e.paced) > 0 {
		earlier(e.paced[0].x.scheduled)
	}
	for _, s := range e.dialing {
		earlier(s.deadline)
	}
	if len(e.hungry) > 0 {
		earlier(e.clock() + buildPause)
	}
	return next
}

// expire does what is due.
func (e *eventLoop) expire() {
	if len(e.hungry) > 0 {
		e.free = append(e.free, e.hungry...)
		e.hungry = e.hungry[:0]
	}
	if len(e.paced) == 0 && len(e.dialing) == 0 {
		return
	}
	now := e.clock()
	halted := e.loop != nil && (e.loop.closing.Load() || e.loop.gone.Load())
	for len(e.paced) > 0 && (halted || e.paced[0].x.scheduled <= now) {
		s := e.paced[0]
		e.paced = slices.Delete(e.paced, 0, 1)
		x := s.x
		s.x, s.state = nil, idle
		e.launch(s, x)
	}
	for _, s := range slices.Clone(e.dialing) {
		if s.deadline > now {
			continue
		}
		if s.state == pausing {
			e.dial(s)
		} else {
			e.hangUp(s)
			e.refused(s, os.ErrDeadlineExceeded)
		}
	}
}

// abandon ends what is in flight when the loop was told to stop.
func (e *eventLoop) abandon(why stopped) {
	for _, s := range e.slots {
		if x := s.x; x != nil && s.sent {
			x.cut = why.ended != Stalled
			x.finished(e.clock(), why)
			e.loop.done(x)
		}
		s.x = nil
		e.hangUp(s)
	}
}

// done is called when there is nothing more to send for a slot.
func (e *eventLoop) done(s *slot) {
	s.state, s.x = idle, nil
	e.active--
}

// control changes what a slot's socket is watched for.
func (e *eventLoop) control(s *slot, operation int, events uint32) error {
	s.watched = events
	return e.poller.watch(operation, s.fd, events, s.index, s.generation)
}

const (
	readable = unix.EPOLLIN | unix.EPOLLRDHUP
	writable = readable | unix.EPOLLOUT
)
