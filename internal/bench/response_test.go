package bench

import (
	"strings"
	"testing"
)

// read feeds a response in pieces of the given size and closes the connection.
func read(wire string, size int) (r response, body string, rest int, err error) {
	for len(wire) > 0 && !r.done() {
		piece := wire[:min(size, len(wire))]
		wire = wire[len(piece):]
		n, err := r.feed([]byte(piece), func(data []byte) error { body += string(data); return nil })
		if err != nil {
			return r, body, 0, err
		}
		rest = len(piece) - n + len(wire)
	}
	if !r.done() {
		err = r.end()
	}
	return r, body, rest, err
}

func TestResponse(t *testing.T) {
	for name, c := range map[string]struct {
		wire   string
		status int
		body   string
		close  bool
		rest   int
		err    string
	}{
		"length":            {wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello"},
		"bytes beyond":      {wire: "HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhelloHTTP", status: 200, body: "hello", rest: 4},
		"no body":           {wire: "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", status: 503},
		"204":               {wire: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		"no reason phrase":  {wire: "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		"chunks":            {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n", status: 200, body: "abc0123456789"},
		"LF only":           {wire: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n", status: 200, body: "abc"},
		"continue first":    {wire: "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok"},
		"until close":       {wire: "HTTP/1.1 200 OK\r\n\r\nall of it", status: 200, body: "all of it", close: true},
		"HTTP/1.0":          {wire: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		"connection close":  {wire: "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		"cut in a body":     {wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", err: "closed before", status: 200, body: "hel"},
		"cut in chunks":     {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", err: "closed before", status: 200, body: "abc"},
		"cut before status": {wire: "HTT", err: "closed before"},
		"no HTTP":           {wire: "SSH-2.0-OpenSSH_9.6\r\n", err: "status line"},
		"bad chunk size":    {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", err: "chunk size", status: 200},
		"huge chunk size":   {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", err: "chunk size", status: 200},
		"chunk too long":    {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", err: "longer than its size", status: 200, body: "ab"},
		"negative length":   {wire: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", err: "content length", status: 200},
		"compressed":        {wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", err: "transfer encoding", status: 200},
		"endless header":    {wire: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", maxHeader+1), err: "longer than 64 KiB", status: 200},
	} {
		for _, size := range []int{1, 2, 7, 1 << 20} {
			r, body, rest, err := read(c.wire, size)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s, pieces of %d: error %v, want one with %q", name, size, err, c.err)
				}
				if r.done() {
					t.Errorf("%s, pieces of %d: taken for complete", name, size)
				}
			} else if err != nil || rest != c.rest || r.close != c.close {
				t.Errorf("%s, pieces of %d: error %v, %d bytes beyond, close %v", name, size, err, rest, r.close)
			}
			if r.status != c.status || body != c.body {
				t.Errorf("%s, pieces of %d: status %d, body %q", name, size, r.status, body)
			}
		}
	}
}

// Whatever a server sends, in whatever pieces, reads the same and never panics.
func FuzzResponse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", uint8(1))
	f.Add("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 500 X\r\n\r\nbody", uint8(3))
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", uint8(2))
	f.Fuzz(func(t *testing.T, wire string, size uint8) {
		a, bodyA, restA, errA := read(wire, max(len(wire), 1))
		b, bodyB, restB, errB := read(wire, int(max(size, 1)))
		if (errA == nil) != (errB == nil) || a.status != b.status || a.done() != b.done() || bodyA != bodyB || restA != restB {
			t.Fatalf("whole: %d %q %d %v; in pieces: %d %q %d %v", a.status, bodyA, restA, errA, b.status, bodyB, restB, errB)
		}
	})
}
