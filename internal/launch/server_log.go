package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// maxChunks bounds one reading of a log that grows as fast as it is read, so
// that budgets are looked at in between.
const maxChunks = 16

// ReadLog reads what the log grew by. WaitReady does it by itself; afterwards
// it is for whoever wants to know how the server does.
func (s *Server) ReadLog(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range maxChunks {
		chunk, err := s.tail(ctx, s.offset)
		if err != nil {
			return fmt.Errorf("read the log of the %s: %w", s.describe(), err)
		}
		if len(chunk) == 0 {
			s.past = false
			return nil
		}
		s.offset += int64(len(chunk))
		s.grown = time.Now()
		if s.past {
			s.log.Replay(s.started, s.grown, chunk)
		} else {
			s.log.Feed(s.grown, chunk)
		}
	}
	return nil
}

// maxLog bounds what is copied of a server's log, in bytes: one that floods it
// must not fill this host's disk.
const maxLog = 1 << 30

// CopyLog writes the log from an offset to w, as far as it goes now, and
// returns the offset to go on from, also after an error.
func (s *Server) CopyLog(ctx context.Context, w io.Writer, from int64) (int64, error) {
	for {
		if from >= maxLog {
			return from, nil // the beginning tells why it failed, and the tail is in the excerpt
		}
		chunk, err := s.tail(ctx, from)
		if err != nil {
			return from, fmt.Errorf("copy the log of the %s: %w", s.describe(), err)
		}
		if len(chunk) == 0 {
			return from, nil
		}
		n, err := w.Write(chunk)
		from += int64(n)
		if err != nil {
			return from, fmt.Errorf("copy the log of the %s: %w", s.describe(), err)
		}
	}
}

func (s *Server) tail(ctx context.Context, offset int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.call)
	defer cancel()
	chunk, err := s.held.Tail(ctx, offset)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the command could not be started
	}
	return chunk, err
}

// silent is for how long the log has not grown.
func (s *Server) silent(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.grown)
}
