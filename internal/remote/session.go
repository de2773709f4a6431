package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

// refusedFor is how long sshd may refuse a session: at MaxSessions, which
// sessions that end right now free again.
const refusedFor = 15 * time.Second

// open opens a session, making a new connection if the old one is lost.
// Nothing was run yet, so that can be done again without harm. Calling release
// is the caller's duty.
func (h *Host) open(ctx context.Context) (s *ssh.Session, c *connection, release func(), err error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, nil, fmt.Errorf("%s: wait for one of %d sessions: %w", h.settings.name(), cap(h.slots), context.Cause(ctx))
	}
	defer func() {
		if err != nil {
			<-h.slots
		}
	}()
	var refusedSince time.Time
	for try, lost := 0, 0; ; try++ {
		if c, err = h.reconnect(ctx); err != nil {
			return nil, nil, nil, err
		}
		limited, cancel := context.WithTimeout(ctx, h.settings.ConnectTimeout)
		s, err = c.session(limited)
		cancel()
		if err == nil {
			return s, c, func() { <-h.slots }, nil
		}
		if ctx.Err() != nil {
			return nil, nil, nil, fmt.Errorf("%s: open a session: %w", h.settings.name(), context.Cause(ctx))
		}
		var refused *ssh.OpenChannelError
		if errors.As(err, &refused) {
			if refusedSince.IsZero() {
				refusedSince = time.Now()
			}
			if time.Since(refusedSince) > refusedFor {
				return nil, nil, nil, fmt.Errorf("%s: sshd opens no more sessions: raise MaxSessions in its sshd_config: %w", h.settings.name(), err)
			}
			if err := sleep(ctx, backoff(min(try, 2))/4); err != nil {
				return nil, nil, nil, fmt.Errorf("%s: open a session: %w", h.settings.name(), err)
			}
			continue
		}
		// Lost, or so silent that it is no better than lost.
		c.end(fmt.Errorf("no session could be opened: %w", err))
		if lost++; lost == 3 {
			return nil, nil, nil, fmt.Errorf("%s: open a session: %w: %w", h.settings.name(), ErrLost, err)
		}
	}
}
