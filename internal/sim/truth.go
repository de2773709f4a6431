package sim

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// truth is the server's own record of what it did, for tests of a client's
// accuracy: one JSON line a finished request, in the file that the environment
// variable SWEEP_SIM_TRUTH names. Times are Unix nanoseconds, each taken just
// before the write that it belongs to.
type truth struct {
	mu   sync.Mutex
	file *os.File // nil: not asked for
}

func openTruth(path string) (*truth, error) {
	if path == "" {
		return &truth{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the file of SWEEP_SIM_TRUTH: %w", err)
	}
	return &truth{file: f}, nil
}

// finished records a request that was answered whole.
func (t *truth) finished(c *call, first, last time.Time) {
	if t.file == nil {
		return
	}
	line := append([]byte(`{"id":`), strconv.Quote(c.id)...)
	for _, field := range []struct {
		name string
		n    int64
	}{
		{"received", c.received.UnixNano()},
		{"first", first.UnixNano()},
		{"last", last.UnixNano()},
		{"tokens", int64(c.seq.Output)},
		{"prompt_tokens", int64(c.seq.Prompt)},
		{"queued", c.queued.Load()}, // duration: received to the start of the prefill
	} {
		line = append(line, `,"`+field.name+`":`...)
		line = strconv.AppendInt(line, field.n, 10)
	}
	line = append(line, "}\n"...)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.file.Write(line) // a test that reads too few lines says so itself
}

func (t *truth) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
