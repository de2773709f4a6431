package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Options are how a host is used. The zero value is good.
type Options struct {
	// AcceptNewHostKey writes the key of a host that no known_hosts file names
	// to the first of them, instead of an error. A changed key is never taken.
	AcceptNewHostKey bool
	// Log is told what happens by itself: a new host key, a reconnection.
	Log func(string)
	// Link is told why a connection was lost, at once, and nil when another one
	// has taken its place. It is called from any goroutine and must not block.
	Link func(reason error)
	// Patience is how long a lost connection is tried to be replaced: 2 min.
	Patience time.Duration
	// Sessions is how many commands run at the same time: 8. sshd's own limit,
	// MaxSessions, is 10.
	Sessions int
}

func (o Options) log(text string) {
	if o.Log != nil {
		o.Log(text)
	}
}

// Host is a machine that is reached over SSH. It is safe for concurrent use.
// When its connection is lost, the next use makes a new one.
type Host struct {
	settings Settings
	opts     Options
	slots    chan struct{} // one for each command that runs

	turn  chan struct{} // held by who makes a connection
	pace  pace          // under turn
	mu    sync.Mutex
	conn  *connection // nil: none yet, or lost
	made  bool        // there was a connection
	ended bool
}

// ErrClosed is the use of a Host after Close.
var ErrClosed = errors.New("the connection was closed")

// Dial reaches the host. It tries again only when sshd has too many logins at
// once. The error is a *DialError, unless ctx ended.
func Dial(ctx context.Context, s Settings, opts Options) (*Host, error) {
	if opts.Patience <= 0 {
		opts.Patience = 2 * time.Minute
	}
	if opts.Sessions <= 0 {
		opts.Sessions = 8
	}
	h := &Host{settings: s, opts: opts, slots: make(chan struct{}, opts.Sessions), turn: make(chan struct{}, 1)}
	if _, err := h.connection(ctx, func(e *DialError) bool { return e.Kind == KindReset }, 10*time.Second); err != nil {
		return nil, err
	}
	return h, nil
}

// Settings are how the host is reached.
func (h *Host) Settings() Settings { return h.settings }

// Close ends the connection, and every command's wait with it.
func (h *Host) Close() error {
	h.mu.Lock()
	h.ended = true
	conn := h.conn
	h.conn = nil
	h.mu.Unlock()
	if conn != nil {
		conn.end(ErrClosed)
	}
	return nil
}

// current is the connection that is there, nil when there is none.
func (h *Host) current() (*connection, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, fmt.Errorf("reach %s: %w", h.settings.name(), ErrClosed)
	}
	if h.conn != nil && !h.conn.alive() {
		h.opts.log(fmt.Sprintf("%s: %v", h.settings.name(), h.conn.reason))
		h.conn = nil
	}
	return h.conn, nil
}

// keep takes a new connection into use.
func (h *Host) keep(c *connection) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		c.end(ErrClosed)
		return fmt.Errorf("reach %s: %w", h.settings.name(), ErrClosed)
	}
	h.conn = c
	if h.opts.Link != nil {
		if h.made {
			h.opts.Link(nil)
		}
		go func() {
			<-c.lost
			if !errors.Is(c.reason, ErrClosed) {
				h.opts.Link(c.reason)
			}
		}()
	}
	h.made = true
	return nil
}

// reconnect is the connection that is there or a new one, tried for as long as
// Patience says where the failure may pass by itself.
func (h *Host) reconnect(ctx context.Context) (*connection, error) {
	return h.connection(ctx, (*DialError).Transient, h.opts.Patience)
}

// connection is the one that is there, or a new one. Failures that again
// approves of are tried again, with growing pauses, for a limited time.
func (h *Host) connection(ctx context.Context, again func(*DialError) bool, patience time.Duration) (*connection, error) {
	if c, err := h.current(); c != nil || err != nil {
		return c, err
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("reach %s: %w", h.settings.name(), context.Cause(ctx))
	}
	until := time.Now().Add(patience)
	for try := 0; ; try++ {
		// Another one may have made it, or closed the host, meanwhile.
		if c, err := h.current(); c != nil || err != nil {
			return c, err
		}
		if err := h.pace.wait(ctx, h.settings.name()); err != nil {
			return nil, err
		}
		c, err := connect(ctx, h.settings, h.opts)
		if err == nil {
			return c, h.keep(c)
		}
		var failure *DialError
		pause := backoff(try)
		if !errors.As(err, &failure) || !again(failure) || time.Now().Add(pause).After(until) {
			return nil, err
		}
		h.opts.log(fmt.Sprintf("%v; next try in %v", err, pause.Round(100*time.Millisecond)))
		if err := sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("reach %s: %w", h.settings.name(), err)
		}
	}
}
