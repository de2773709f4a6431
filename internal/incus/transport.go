package incus

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
)

// overSocket makes an HTTP client of a unix socket. It has no Timeout: waiting
// for an operation and a websocket are long, and every call has a deadline in
// its context. A connection to a unix socket costs nothing, and one that is
// never reused is never found dead.
func overSocket(socket string, wrap func(net.Conn) net.Conn) *http.Client {
	dialer := &net.Dialer{Timeout: dialing}
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, "unix", socket)
			if err != nil {
				return nil, err
			}
			return wrap(conn), nil
		},
	}}
}

func asItIs(conn net.Conn) net.Conn { return conn }

// lastWords is a connection that can be read to its end although the other side
// has closed it. The daemon pings each stream of a command once it is attached,
// and closes it when the command has ended, so the answer to the ping may fail;
// the websocket library then drops what it has not yet read. Seen in two of a
// hundred commands on a busy machine: no output, and no error.
type lastWords struct{ net.Conn }

func asLastWords(conn net.Conn) net.Conn { return lastWords{conn} }

func (l lastWords) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil // the reader will see the end
	}
	return n, err
}
