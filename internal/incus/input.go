package incus

import (
	"errors"
	"io"
	"net"
	"sync"
)

// errHungUp is what a source hears of that is not needed any more.
var errHungUp = errors.New("the connection is closed")

// input is the body of a request, from a source that may fail or block. The
// HTTP client mixes an error of the source up with those of the connection, so
// it is remembered; and it does not return while it waits for the source,
// whatever became of the connection, so it must be possible to hang up.
type input struct {
	from  io.Reader
	start sync.Once // at the first read: a request that nobody took has used nothing
	out   *io.PipeReader
	in    *io.PipeWriter

	mu     sync.Mutex
	used   bool
	failed error
}

func newInput(from io.Reader) *input {
	i := &input{from: from}
	i.out, i.in = io.Pipe()
	return i
}

func (i *input) Read(p []byte) (int, error) {
	i.start.Do(func() {
		i.mu.Lock()
		i.used = true
		i.mu.Unlock()
		go i.pump()
	})
	return i.out.Read(p)
}

func (i *input) pump() {
	_, err := io.Copy(i.in, i.from)
	if err != nil && !errors.Is(err, errHungUp) {
		i.mu.Lock()
		i.failed = err
		i.mu.Unlock()
	}
	i.in.CloseWithError(err)
}

// Close hangs up. A read of the source that goes on is not waited for: it may
// be one that never returns.
func (i *input) Close() error { return i.out.CloseWithError(errHungUp) }

// begun tells whether anything was read.
func (i *input) begun() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used
}

// failure is the error of the source.
func (i *input) failure() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// hangsUp is a connection whose end is the end of what it was to carry.
type hangsUp struct {
	net.Conn
	in *input
}

func (h hangsUp) Close() error {
	h.in.Close()
	return h.Conn.Close()
}
