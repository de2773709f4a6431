package bench

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// send begins to write the slot's request.
func (e *eventLoop) send(s *slot) {
	s.x.reserve()
	s.state, s.sent, s.unsent = carrying, true, s.x.wire
	s.x.sent = e.loop.clock()
	e.write(s)
}

// write goes on writing the request.
func (e *eventLoop) write(s *slot) {
	events := uint32(readable)
	for len(s.unsent) > 0 {
		n, err := send(s.fd, s.unsent)
		if errors.Is(err, unix.EAGAIN) {
			events = writable
			break
		}
		if err != nil {
			e.fail(s, fmt.Errorf("send the request: %w", err))
			return
		}
		s.unsent = s.unsent[n:]
	}
	if s.watched != events {
		if err := e.control(s, unix.EPOLL_CTL_MOD, events); err != nil {
			e.fail(s, fmt.Errorf("send the request: %w", err))
		}
	}
}

// react deals with one event of a slot's connection.
func (e *eventLoop) react(s *slot, events uint32) {
	switch s.state {
	case dialing:
		if err := connected(s.fd); err != nil {
			e.hangUp(s)
			e.refused(s, err)
		} else if events&unix.EPOLLOUT != 0 {
			e.opened(s)
		}
	case carrying:
		generation := s.generation
		if events&^unix.EPOLLOUT != 0 {
			e.receive(s)
		}
		if events&unix.EPOLLOUT != 0 && s.state == carrying && s.generation == generation && len(s.unsent) > 0 {
			e.write(s)
		}
	default: // the server closed an idle connection, or said what nobody asked for
		e.hangUp(s)
	}
}

// receive reads what came of the response.
func (e *eventLoop) receive(s *slot) {
	data, received, err := e.reader.read(s.fd)
	switch {
	case errors.Is(err, unix.EAGAIN):
	case err != nil:
		e.fail(s, fmt.Errorf("read the response: %w", err))
	case len(data) == 0:
		if err := s.x.closed(); err != nil {
			e.fail(s, err)
		} else {
			e.end(s, nil)
		}
	default:
		at, late := e.times(s, received)
		tokens, err := s.x.receive(data, at, late)
		if tokens {
			e.loop.token(at)
		}
		if err != nil {
			e.fail(s, err)
		} else if s.x.complete() {
			s.used = true
			e.end(s, nil)
		}
	}
}

// fail is called when an exchange broke. A server may close an idle connection at
// the very moment a request is written to it: see pool.exchange.
func (e *eventLoop) fail(s *slot, err error) {
	broken := errors.Is(err, errClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	if !s.again || !broken || !s.x.untouched() || e.loop.clock()-s.x.sent > lateClose || e.ctx.Err() != nil {
		e.end(s, err)
		return
	}
	s.again, s.failure = false, err
	e.hangUp(s)
	e.dial(s)
}

// end is called when the slot's request is over, with what ended it other than a
// complete response.
func (e *eventLoop) end(s *slot, err error) {
	x := s.x
	s.x, s.state = nil, idle
	s.freed = e.loop.clock()
	x.finished(s.freed, err)
	if err == nil {
		s.freed = x.lastByte
	}
	if err != nil || x.response.close || len(s.unsent) > 0 {
		e.hangUp(s)
	}
	s.unsent, s.sent = nil, false
	e.loop.done(x)
	e.free = append(e.free, s)
}
