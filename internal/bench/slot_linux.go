package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// slotState is what a slot's connection is doing.
type slotState int

const (
	idle     slotState = iota
	waiting            // has a request whose time has not come
	dialing            // connecting
	pausing            // before the second try after a refusal
	carrying           // a request is on it
)

// slot sends one request after another over a connection of its own.
type slot struct {
	number     int   // in the level
	index      int32 // in the event loop
	generation int32 // of the connection: one more for each
	fd         int   // -1: none
	watched    uint32
	state      slotState
	freed      time.Duration // since when it has had nothing to do
	deadline   time.Duration // of dialing or pausing

	x       *exchange
	unsent  []byte
	sent    bool  // x was sent at least once
	used    bool  // a response came on the connection
	again   bool  // x may be sent a second time, see pool.exchange
	failure error // what broke the first try
	second  bool  // the dial is the second one after a refusal
}

// launch sends a request as soon as there is a connection.
func (e *eventLoop) launch(s *slot, x *exchange) {
	if !e.loop.issue(x) {
		e.done(s)
		return
	}
	s.x, s.sent, s.failure, s.second = x, false, nil, false
	switch {
	case s.fd >= 0 && quiet(s.fd):
		s.again = s.used
		e.send(s)
	default:
		s.again = false
		e.hangUp(s)
		e.dial(s)
	}
}

// dial begins to open the slot's connection.
func (e *eventLoop) dial(s *slot) {
	e.forget(s)
	fd, err := connect(e.target)
	if err == nil {
		s.fd, s.used, s.state, s.deadline = fd, false, dialing, e.clock()+dialTimeout
		s.generation++
		err = e.control(s, unix.EPOLL_CTL_ADD, writable)
	}
	if err != nil {
		e.hangUp(s)
		e.refused(s, err)
		return
	}
	e.dialing = append(e.dialing, s)
}

// forget takes a slot off the list of those with a deadline.
func (e *eventLoop) forget(s *slot) {
	if i := slices.Index(e.dialing, s); i >= 0 {
		e.dialing = slices.Delete(e.dialing, i, i+1)
	}
}

// opened is called when a connection is there.
func (e *eventLoop) opened(s *slot) {
	e.forget(s)
	s.state = idle
	if e.loop == nil {
		if err := e.control(s, unix.EPOLL_CTL_MOD, readable); err != nil {
			e.failure = err
		}
		return
	}
	e.loop.redials.Add(1)
	e.send(s)
}

// refused is called when a connection could not be opened. Nobody listens any
// more when it is refused twice.
func (e *eventLoop) refused(s *slot, err error) {
	e.forget(s)
	s.state = idle
	switch {
	case e.loop == nil:
		e.failure = fmt.Errorf("connect: %w", err)
	case errors.Is(err, unix.ECONNREFUSED) && !s.second:
		s.second, s.state, s.deadline = true, pausing, e.clock()+listenAgain
		e.dialing = append(e.dialing, s)
	case s.failure != nil: // the request was sent before
		e.end(s, s.failure)
	case errors.Is(err, unix.ECONNREFUSED):
		e.loop.dead()
		e.done(s) // the request was never sent: it does not count as issued
	default:
		s.x.sent = e.loop.clock()
		e.end(s, fmt.Errorf("connect: %w", err))
	}
}

// hangUp closes the slot's connection.
func (e *eventLoop) hangUp(s *slot) {
	if s.fd >= 0 {
		unix.Close(s.fd) // takes it out of the poller too
		s.fd = -1
		s.generation++
	}
}
