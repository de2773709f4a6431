package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"time"
)

// sessionWait is how long a connection with unread bytes may take to show that
// they are TLS's own and not a goodbye: they are here already.
const sessionWait = 2 * time.Millisecond

// handshake speaks TLS over a fresh connection, so that no request waits for it.
// HTTP/2 is not offered: one connection would carry all streams.
func handshake(ctx context.Context, raw net.Conn, e endpoint) (net.Conn, error) {
	host, _, err := net.SplitHostPort(e.address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: e.roots, MinVersion: tls.VersionTLS12})
	return c, c.HandshakeContext(ctx)
}

// staleTLS is stale for a TLS connection on which bytes wait. They may be a
// session ticket, which is read and kept by TLS itself.
func (c *conn) staleTLS() bool {
	if c.stream.SetReadDeadline(time.Now().Add(sessionWait)) != nil {
		return true
	}
	n, err := c.stream.Read(c.buf[:1])
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	return c.stream.SetReadDeadline(time.Time{}) != nil
}
