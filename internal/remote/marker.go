package remote

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxNoise is how much a login shell may print before the program starts.
const maxNoise = 1 << 20

var errNoise = errors.New("the login shell printed more than 1 MiB and did not come to the command")

// afterMark is an output of the host. It drops all that comes before the mark.
type afterMark struct {
	mu     sync.Mutex
	mark   []byte // with its line break
	to     io.Writer
	failed func() // called once, when to takes no more
	begun  bool
	noise  []byte // until begun
	err    error
	closed bool
}

func newAfterMark(mark string, to io.Writer, failed func()) *afterMark {
	if to == nil {
		to = io.Discard
	}
	return &afterMark{mark: []byte(mark + "\n"), to: to, failed: failed}
}

// Write takes all that comes even if nobody wants it any more: an error here
// would only stop the reading, and leave the program stuck at a full pipe.
func (a *afterMark) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := p
	if a.closed || a.err != nil {
		return len(p), nil
	}
	if !a.begun {
		// Only the end of the old bytes can hold the start of the mark.
		from := max(0, len(a.noise)-len(a.mark))
		a.noise = append(a.noise, p...)
		at := bytes.Index(a.noise[from:], a.mark)
		if at < 0 {
			if len(a.noise) > maxNoise {
				a.fail(errNoise)
			}
			return len(p), nil
		}
		a.begun = true
		rest = a.noise[from+at+len(a.mark):]
		a.noise = a.noise[:from+at]
	}
	if len(rest) > 0 {
		if _, err := a.to.Write(rest); err != nil {
			a.fail(err)
		}
	}
	return len(p), nil
}

func (a *afterMark) fail(err error) {
	a.err = err
	go a.failed()
}

// close lets nothing through any more: the caller has its writer back.
func (a *afterMark) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

// state is whether the mark came, what came before it, and the writer's error.
func (a *afterMark) state() (begun bool, noise string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begun, string(a.noise), a.err
}
