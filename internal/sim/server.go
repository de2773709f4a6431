package sim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// The states of a server that listens.
const (
	starting int32 = iota
	serving
	stopping
)

// server is one simulated sglang server.
type server struct {
	opt       options
	asked     Args
	args      Args // resolved
	timing    Timing
	log       *logger
	ranks     []string // log prefixes
	pieces    pieces
	stats     *metrics
	engine    *engine
	truth     *truth
	started   time.Time
	port      int // the real one, when any free port was asked for
	state     atomic.Int32
	listening atomic.Bool
	ready     chan struct{} // closed when the start is over
	exits     chan int      // a crash that ends in an exit status
	counted   atomic.Int64  // client requests so far
}

func newServer(opt options, asked Args, t Timing, log *logger, tr *truth) *server {
	s := &server{
		opt: opt, asked: asked, args: resolve(asked, t), timing: t, log: log, truth: tr,
		ranks:  ranks(t.setup, max(asked.Int("ep_size"), 1)),
		pieces: newPieces(), stats: newMetrics(), started: time.Now(),
		ready: make(chan struct{}), exits: make(chan int, 1),
	}
	s.engine = &engine{
		sched: NewScheduler(t), timing: t, scale: opt.timeScale, faults: opt.faults, stats: s.stats, log: log,
		batch: newBatchLog(log, t, s.leaders, asked.Int("decode_log_interval")),
		wake:  make(chan struct{}, 1), live: map[*call]bool{},
		fail: func(f *failure) { s.exits <- s.crash(f) },
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
	work, end := context.WithCancel(context.WithoutCancel(ctx)) // the engine outlives ctx, to drain
	defer end()
	if n := s.opt.faults.flood; n > 0 {
		go s.flood(work, n)
	}
	if s.opt.faults.orphan == "nccl" {
		if err := s.keepPort(ctx, s.asked.Int("nccl_port")); err != nil {
			s.log.line("sweep sim: %v", err)
			return 1
		}
	}
	var web *http.Server
	if s.opt.faults.early != 0 {
		var code int
		if web, code = s.serve(ctx); web == nil {
			return code
		}
	}
	var crash *failure
	switch err := s.boot(ctx); {
	case errors.As(err, &crash):
		return s.crash(crash)
	case err != nil:
		return 143 // told to stop while loading: sglang has no handler yet and dies of SIGTERM
	}
	if web == nil {
		var code int
		if web, code = s.serve(ctx); web == nil {
			return code
		}
	}
	go s.engine.run(work)
	go s.warmup(ctx)
	select {
	case code := <-s.exits:
		return code
	case <-ctx.Done():
	}
	s.shutdown(web)
	return 0
}

// serve opens the HTTP port; without one it returns the exit status.
func (s *server) serve(ctx context.Context) (*http.Server, int) {
	s.log.uvicorn("INFO", "Started server process [%d]", os.Getpid())
	s.log.uvicorn("INFO", "Waiting for application startup.")
	s.log.uvicorn("INFO", "Application startup complete.")
	host, port := s.args.Text("host"), s.args.Int("port")
	// Only now: sglang does not look at its port before everything is loaded.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if f := s.opt.faults.exit; err == nil && f != nil && f.name == portInUse {
		listener.Close()
		err = syscall.EADDRINUSE
	}
	if err == nil && s.opt.faults.orphan == "http" {
		err = s.orphan(ctx, listener)
	}
	if err != nil {
		s.log.uvicorn("ERROR", "%s", bindError(err, host, port))
		s.log.uvicorn("INFO", "Waiting for application shutdown.")
		s.log.uvicorn("INFO", "Application shutdown complete.")
		return nil, 1
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	s.listening.Store(true)
	s.log.uvicorn("INFO", "Uvicorn running on http://%s (Press CTRL+C to quit)", net.JoinHostPort(host, strconv.Itoa(s.port)))
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	web.Protocols.SetHTTP1(true)
	go func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.uvicorn("ERROR", "%v", err)
			s.exits <- 1
		}
	}()
	return web, 0
}

// keepPort leaves an orphan that holds an internal port, any free one for 0.
func (s *server) keepPort(ctx context.Context, port int) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer l.Close()
	return s.orphan(ctx, l)
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
