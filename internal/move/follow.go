package move

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"sweep/internal/remote"
	"sweep/internal/store"
	"sweep/internal/supervise"
)

const (
	// stateEvery is how often a night that says nothing of its end is looked
	// at: each look is a process on a host that measures.
	stateEvery = 10 * time.Second
	// endingEvery is the same once it has said its last word.
	endingEvery = 300 * time.Millisecond
)

// Watch receives what a night over there says. Each is called from one
// goroutine at a time, in order.
type Watch struct {
	Line  func(line []byte)             // each line as it is
	Event func(e store.Event, at int64) // those that are events of the journal; at is the byte behind it
	Said  func(text string)             // those that are not: warnings and errors
}

// Follow tells what the night says, from a byte of its output on, until it is
// over, and returns how it ended. The link may go and come; when it does not
// come back in time, the error is a *remote.DialError. Ending ctx only ends the
// following.
func (p *Place) Follow(ctx context.Context, e *Entry, offset int64, w Watch) (supervise.State, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var read atomic.Int64 // byte up to which the output was taken
	read.Store(offset)
	last := make(chan struct{}, 1) // it may be over now
	lines := &lines{watch: w, at: offset, ending: func() {
		select {
		case last <- struct{}{}:
		default:
		}
	}}
	tailed := make(chan error, 1)
	go func() {
		err := p.host.Tail(ctx, e.Output(), offset, func(data []byte) error {
			lines.take(data)
			read.Add(int64(len(data)))
			return nil
		})
		tailed <- err
	}()
	state, err := p.waitOver(ctx, e, last, tailed)
	if err == nil {
		err = p.waitRead(ctx, e, &read, tailed)
	}
	cancel(errDone)
	if err == nil {
		<-tailed //nolint:errcheck // it has ended, and how is known
		lines.end()
	}
	return state, err
}

var errDone = errors.New("the night is over")

// waitOver returns when the night is over.
func (p *Place) waitOver(ctx context.Context, e *Entry, last <-chan struct{}, tailed chan error) (supervise.State, error) {
	every := stateEvery
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return supervise.State{}, context.Cause(ctx)
		case err := <-tailed:
			tailed <- err
			return supervise.State{}, err
		case <-last:
			every = endingEvery
		case <-wait.C:
		}
		s, err := p.State(ctx, e)
		switch {
		case err == nil && Over(s):
			return s, nil
		case err != nil && !passes(ctx, err):
			return s, err
		}
		wait.Reset(every)
	}
}

// passes tells whether the same question may be answered a moment later: the
// link was lost, or is so slow that a call ran out of its time. Whoever tails
// meanwhile knows when it stays away for too long.
func passes(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (errors.Is(err, remote.ErrLost) || errors.Is(err, context.DeadlineExceeded))
}

// waitRead returns when all of the output was taken.
func (p *Place) waitRead(ctx context.Context, e *Entry, read *atomic.Int64, tailed chan error) error {
	size, err := p.Said(ctx, e)
	for err != nil && passes(ctx, err) {
		size, err = p.Said(ctx, e)
	}
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for read.Load() < size {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-tailed:
			tailed <- err
			return err
		case <-tick.C:
		}
	}
	return nil
}

// Said is how much the last start has said so far, in bytes.
func (p *Place) Said(ctx context.Context, e *Entry) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	entry, err := p.host.Stat(ctx, e.Output())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return entry.Size, err
}
