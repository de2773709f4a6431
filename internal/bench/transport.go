package bench

import (
	"context"
	"fmt"
)

// Sockets names how connections are driven.
type Sockets string

// The ways to drive connections.
const (
	Epoll    Sockets = "epoll"    // Linux: an event loop a core, times of arrival from the kernel
	Portable Sockets = "portable" // any system: a goroutine a connection, times taken after the read
)

// transport carries the requests of a loop, over one connection a slot. All are
// dialled when it is opened, so that dialling is in no latency.
type transport interface {
	// serve calls the loop's begin, lets every slot send its requests one after
	// another, and returns when none has anything more to send. When ctx ends, what
	// is in flight fails at once.
	serve(ctx context.Context, l *loop)
	sockets() Sockets
	close()
}

// openTransport dials n connections. Close what it returns also after an error.
// TLS is spoken by the portable client only.
func openTransport(ctx context.Context, want Sockets, e endpoint, n int) (transport, error) {
	var t transport
	var err error
	switch {
	case want != "" && want != Epoll && want != Portable:
		return nil, fmt.Errorf("sockets %q are not known: use %q or %q", want, Epoll, Portable)
	case want == Portable || e.secure || !haveEvents:
		if want == Epoll {
			return nil, fmt.Errorf("sockets %q: this needs Linux and an http:// server", want)
		}
		t, err = openPool(ctx, e, n)
	default:
		t, err = openEvents(ctx, e, n)
	}
	if err != nil {
		err = fmt.Errorf("open %d connections to %s: %w", n, e.address, err)
	}
	return t, err
}
