package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"sweep/internal/sglang"
)

// The states of a server that listens.
const (
	starting int32 = iota
	serving
	stopping
)

// server is one simulated sglang server.
type server struct {
	opt     options
	asked   Args
	args    Args // resolved
	timing  Timing
	log     *logger
	ranks   []string // log prefixes
	pieces  pieces
	stats   *metrics
	engine  *engine
	truth   *truth
	started time.Time
	port    int // the real one, when any free port was asked for
	state   atomic.Int32
}

func newServer(opt options, asked Args, t Timing, log *logger, tr *truth) *server {
	s := &server{
		opt: opt, asked: asked, args: resolve(asked, t), timing: t, log: log, truth: tr,
		ranks:  ranks(t.setup.DP, t.setup.PP, t.setup.TP, max(asked.Int("ep_size"), 1)),
		pieces: newPieces(), stats: newMetrics(), started: time.Now(),
	}
	s.engine = &engine{
		sched: NewScheduler(t), scale: opt.timeScale, fault: opt.fault, fail: s.crash, stats: s.stats,
		cache: newPrefixCache(t.KVTokens(), asked.Bool("disable_radix_cache")),
		batch: newBatchLog(log, t, s.leaders, asked.Int("decode_log_interval")),
		wake:  make(chan struct{}, 1),
	}
	return s
}

// startup is a natural start-up duration under both time scales.
func (s *server) startup(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.opt.timeScale / s.opt.startupScale)
}

// run starts the server, serves until ctx ends and shuts down. It returns the
// exit status.
func (s *server) run(ctx context.Context) int {
	var crash *failure
	switch err := s.boot(ctx); {
	case errors.As(err, &crash):
		s.crash(crash)
		return 137
	case err != nil:
		return 143 // told to stop while loading: sglang has no handler yet and dies of SIGTERM
	}
	s.log.uvicorn("INFO", "Started server process [%d]", os.Getpid())
	s.log.uvicorn("INFO", "Waiting for application startup.")
	s.log.uvicorn("INFO", "Application startup complete.")
	host, port := s.args.Text("host"), s.args.Int("port")
	// Only now: sglang does not look at its port before everything is loaded.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		s.log.uvicorn("ERROR", "%s", bindError(err, host, port))
		s.log.uvicorn("INFO", "Waiting for application shutdown.")
		s.log.uvicorn("INFO", "Application shutdown complete.")
		return 1
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	s.log.uvicorn("INFO", "Uvicorn running on http://%s (Press CTRL+C to quit)", net.JoinHostPort(host, strconv.Itoa(s.port)))

	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	web.Protocols.SetHTTP1(true)
	work, end := context.WithCancel(context.WithoutCancel(ctx)) // the engine outlives ctx, to drain
	defer end()
	go s.engine.run(work)
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	go s.warmup(ctx)
	select {
	case err := <-failed:
		s.log.uvicorn("ERROR", "%v", err)
		return 1
	case <-ctx.Done():
	}
	s.shutdown(web)
	return 0
}

// warmup is sglang's own first request; the server is healthy when it is
// through.
func (s *server) warmup(ctx context.Context) {
	if !s.args.Bool("skip_server_warmup") {
		for _, stage := range s.timing.Startup() {
			if stage.Name == sglang.PhaseWarmup && sleepUntil(ctx, time.Now().Add(s.startup(stage.Time))) != nil {
				return
			}
		}
		prompt, tokens := "The capital city of France is", 8
		req := generateRequest{Text: &prompt}
		req.Sampling.MaxNewTokens, req.Sampling.IgnoreEOS = &tokens, true
		c, err := s.newCall(req, time.Now())
		if err != nil {
			s.crash(&failure{sglang.PhaseWarmup, "Initialization failed. warmup error: " + err.Error(), childFailed})
			return
		}
		c.internal = true
		s.log.access("127.0.0.1:0", "GET /model_info", http.StatusOK, "OK")
		s.engine.submit(c)
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		s.log.access("127.0.0.1:0", "POST /generate", http.StatusOK, "OK")
	}
	if s.state.CompareAndSwap(starting, serving) {
		s.log.line("The server is fired up and ready to roll!")
	}
}

// shutdown stops accepting and gives what runs a little time.
func (s *server) shutdown(web *http.Server) {
	s.state.Store(stopping)
	s.log.line("Gracefully exiting... Remaining number of requests %d.", s.engine.busy.Load())
	grace := time.Duration(5 * float64(time.Second) / s.opt.timeScale)
	drain, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := web.Shutdown(drain); err != nil {
		s.log.line("Gracefully exiting... Remaining number of requests %d, giving up on them.", s.engine.busy.Load())
		_ = web.Close() // nothing left to do about a connection that does not close
	}
}

// crash logs a failure as sglang does and ends the process as it does.
func (s *server) crash(f *failure) {
	s.log.ranked(s.ranks[0], "Scheduler hit an exception: Traceback (most recent call last):\n"+
		"  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line 3130, in run_scheduler_process\n"+
		"    scheduler.run_event_loop()\n%s\n", f.text)
	s.log.line("%s", f.after)
	kill()
}

// bindError is uvicorn's text for a port that cannot be had.
func bindError(err error, host string, port int) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	return fmt.Sprintf("[Errno %d] error while attempting to bind on address ('%s', %d): %s", int(no), host, port, no.Error())
}
