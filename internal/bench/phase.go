package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// phase is a set of requests to be sent.
type phase struct {
	key      string // of the prompts' contents
	in, out  []int
	slots    int
	times    []time.Duration // when to send each, from the start; nil: as soon as a slot is free
	maxLevel time.Duration
	progress func(done int)
}

// outcome is what came of a phase.
type outcome struct {
	traces  []trace
	ended   Ended
	redials int
	sockets Sockets
	base    time.Time     // the zero of the traces' clock
	took    time.Duration // from the first wave's release to the last answer
	cpu     time.Duration // used by this process meanwhile; -1: unknown
}

// phase builds the first wave of requests, dials all connections, and only then
// starts the clock.
func (s *session) phase(parent context.Context, p phase) (outcome, error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(errors.New("the phase is over"))

	slots := min(p.slots, len(p.in))
	q := newQueue(ctx, len(p.in), slots, builder(s.endpoint, s.job.Level.Workload, p.key, s.job.Vocab, p.in, p.out))
	<-q.primed
	t, err := openTransport(ctx, s.job.Sockets, s.endpoint, slots)
	if t != nil {
		defer t.close()
	}
	if err != nil {
		return outcome{}, err
	}
	l := newLoop(q, len(p.in))
	l.traces = make([]trace, 0, len(p.in))
	l.times, l.maxLevel, l.grace, l.stall, l.progress = p.times, p.maxLevel, s.grace, s.job.Stall, p.progress
	before := usage()
	ended := l.run(ctx, stop, t)
	if l.fault != nil {
		return outcome{}, fmt.Errorf("drive connections: %w", l.fault)
	}
	o := outcome{traces: l.traces, ended: ended, sockets: t.sockets(), redials: int(l.redials.Load()), base: l.base, took: l.clock() - l.started, cpu: -1}
	if after := usage(); before >= 0 && after >= 0 {
		o.cpu = after - before
	}
	return o, nil
}
