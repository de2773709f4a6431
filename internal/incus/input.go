package incus

import (
	"io"
	"sync"
)

// input is what a request sends. It remembers an error of its source, which
// the HTTP client mixes up with those of the connection, and lets go of the
// source when the call is over: the HTTP client may read on for a while.
type input struct {
	from io.Reader

	mu     sync.Mutex
	used   bool
	over   bool
	failed error
}

func (i *input) Read(p []byte) (int, error) {
	i.mu.Lock()
	over := i.over
	i.used = true
	i.mu.Unlock()
	if over {
		return 0, io.ErrClosedPipe
	}
	n, err := i.from.Read(p)
	if err != nil && err != io.EOF { // one that only wraps it is no end to the HTTP client
		i.mu.Lock()
		i.failed = err
		i.mu.Unlock()
	}
	return n, err
}

// begun tells whether anything was read.
func (i *input) begun() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used
}

// end lets go of the source and returns its error. A read that goes on is not
// waited for: it may be one that never returns.
func (i *input) end() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	return i.failed
}
