package launch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sweep/internal/sglang"
)

// probe is what the probes of a start found: a generation, or why there will
// be none.
type probe struct {
	at       time.Time     // end of the first real generation
	took     time.Duration // of that request alone
	resolved *sglang.Resolved
	err      error
}

// firstPrompt is in every vocabulary.
var firstPrompt = []int{1, 2, 3, 4, 5, 6, 7, 8}

// firstTokens are asked of the first generation: more than one, so that a
// decode step runs too.
const firstTokens = 4

// maxBroken is how many connections may break under a request in a row, while
// the process lives on, before the start counts as failed.
const maxBroken = 3

// probe asks /health until it is 200, then for one real generation, then what
// the server says of itself. It returns when there is one or when there is
// nothing to wait for, and with ctx's error when that ends.
func (s *Server) probe(ctx context.Context) probe {
	broken := 0
	for ctx.Err() == nil {
		status, err := s.client.Health(ctx)
		s.note(fmt.Sprintf("/health answers %d", status), err)
		if err == nil && status == http.StatusOK && s.mayAnswer() {
			s.healthy.Store(true)
			begun := time.Now()
			_, err = s.client.Generate(ctx, firstPrompt, firstTokens)
			s.note("/generate answers", err)
			at := time.Now()
			switch {
			case err == nil:
				return probe{at: at, took: at.Sub(begun), resolved: s.resolve(ctx)}
			case later(err):
				broken = 0
			case !breaks(err):
				return probe{err: err}
			default:
				if broken++; broken == maxBroken {
					return probe{err: err}
				}
			}
		}
		select {
		case <-time.After(s.pace.poll):
		case <-ctx.Done():
		}
	}
	return probe{err: ctx.Err()}
}

// note keeps what a probe heard, for a start that comes to nothing. That
// nobody listens yet, or that the wait is over, is no answer.
func (s *Server) note(text string, err error) {
	switch {
	case err != nil && (sglang.IsTransport(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return
	case err != nil:
		text = err.Error()
	}
	text = sglang.Plain(text)
	s.answer.Store(&text)
}

// mayAnswer is false while the server's own log says that it is still loading:
// sglang listens only after that, so another server answers.
func (s *Server) mayAnswer() bool {
	phase, _ := s.log.Current()
	loading := phase != sglang.PhaseProcess && phase.Before(sglang.PhaseHTTP)
	s.stranger.Store(loading)
	return !loading
}

// later reports whether the server asks to come again: /health may be 200
// before requests are taken.
func later(err error) bool {
	no := (*sglang.APIError)(nil)
	return errors.As(err, &no) && (no.Status == http.StatusServiceUnavailable || no.Status == http.StatusTooManyRequests)
}

// breaks reports whether the connection failed rather than the request.
func breaks(err error) bool {
	no := (*sglang.APIError)(nil)
	return sglang.IsTransport(err) && !errors.As(err, &no)
}

// resolve asks what the server says of itself; null when it does not say in
// time, which is no failure.
func (s *Server) resolve(ctx context.Context) *sglang.Resolved {
	ctx, cancel := context.WithTimeout(ctx, s.pace.info)
	defer cancel()
	r, err := s.client.ServerInfo(ctx)
	if err != nil {
		return nil
	}
	return &r
}
