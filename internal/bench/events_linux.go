package bench

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"
)

// haveEvents tells whether this system has event loops.
const haveEvents = true

// slotsPerLoop is how many connections one event loop drives before there is a
// second one: one core reads some 80,000 events a second, 512 streams of a fast
// server send 50,000.
const slotsPerLoop = 512

// eventLoops is the transport of Linux: event loops, at most one a core, that
// share the slots. A goroutine a connection costs two more switches an event, and
// each of them is a chance to be late.
type eventLoops []*eventLoop

// openEvents dials n connections. Close what it returns also after an error.
func openEvents(ctx context.Context, e endpoint, n int) (transport, error) {
	to, err := resolve(ctx, e.address)
	if err != nil {
		return nil, plain(err)
	}
	loops := make(eventLoops, min(cores(), (n+slotsPerLoop-1)/slotsPerLoop))
	for i := range loops {
		if loops[i], err = newEventLoop(to); err != nil {
			return loops[:i+1], err
		}
	}
	for i := range n {
		l := loops[i%len(loops)]
		l.slots = append(l.slots, &slot{number: i, index: int32(len(l.slots)), fd: -1})
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range loops {
		group.Go(func() error { return l.open(ctx, max(dialAtOnce/len(loops), 1)) })
	}
	return loops, group.Wait()
}

func (e eventLoops) sockets() Sockets { return Epoll }

func (e eventLoops) close() {
	for _, l := range e {
		l.close()
	}
}

func (e eventLoops) serve(ctx context.Context, l *loop) {
	over := make(chan struct{})
	var watchers, all sync.WaitGroup
	watchers.Go(func() { // waits may end for three reasons that come from elsewhere
		for halted := l.halted; ; {
			select {
			case <-halted:
				halted = nil
			case <-ctx.Done():
				e.wake()
				return
			case <-over:
				return
			}
			e.wake()
		}
	})
	l.begin()
	broken := make([]error, len(e))
	for i, one := range e {
		all.Go(func() { broken[i] = one.serve(ctx, l) })
	}
	all.Wait()
	close(over)
	watchers.Wait()
	l.fault = errors.Join(broken...)
}

func (e eventLoops) wake() {
	for _, l := range e {
		l.poller.wake()
	}
}
