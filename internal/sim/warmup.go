package sim

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sweep/internal/sglang"
)

// warmup is sglang's own first request; the server is healthy when it is
// through.
func (s *server) warmup(ctx context.Context) {
	if err := s.trouble(ctx, sglang.PhaseWarmup); err != nil {
		var crash *failure
		if errors.As(err, &crash) {
			s.exits <- s.crash(crash)
		}
		return
	}
	if !s.args.Bool("skip_server_warmup") && !s.ownRequest(ctx) {
		return
	}
	if s.state.CompareAndSwap(starting, serving) {
		close(s.ready)
		s.log.line("The server is fired up and ready to roll!")
	}
}

// ownRequest sends what sglang sends itself, and says whether it came back.
func (s *server) ownRequest(ctx context.Context) bool {
	for _, stage := range s.timing.Startup() {
		if stage.Name == sglang.PhaseWarmup && sleepUntil(ctx, time.Now().Add(s.startup(stage.Time))) != nil {
			return false
		}
	}
	prompt := "The capital city of France is"
	c, err := s.newCall(ask{text: &prompt, most: 8, ignoreEOS: true, internal: true}, time.Now())
	if err != nil {
		s.exits <- s.crash(&failure{phase: sglang.PhaseWarmup, cause: cause{name: "warmup-failed", died: quiet, exit: -1,
			text: "Initialization failed. warmup error: " + err.Error()}})
		return false
	}
	s.log.access("127.0.0.1:0", "GET /model_info", http.StatusOK, "OK")
	s.engine.submit(c)
	select {
	case <-c.wake:
	case <-ctx.Done():
		return false
	}
	s.log.access("127.0.0.1:0", "POST /generate", http.StatusOK, "OK")
	return true
}
