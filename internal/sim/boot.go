package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sweep/internal/sglang"
)

// boot goes through the start of the server up to, but not including, its HTTP
// port: every line in sglang's order, every phase as long as the timing says. It
// returns a *failure when this server cannot start.
func (s *server) boot(ctx context.Context) error {
	if f := s.opt.faults.exit; f != nil && f.died == inArgs {
		return f // before anything is logged
	}
	for _, w := range warnings(s.asked, s.timing) {
		s.log.line("%s", w)
	}
	s.log.line("server_args=%s", s.args)
	for _, stage := range s.timing.Startup() {
		b := booting{server: s, ctx: ctx, stage: stage, start: time.Now(), took: s.startup(stage.Time), looked: new(bool)}
		var err error
		switch stage.Name {
		case sglang.PhaseProcess:
			err = b.process(ctx)
		case sglang.PhaseInit:
			err = b.init()
		case sglang.PhaseWeights:
			err = b.weights()
		case sglang.PhaseKV:
			err = b.kv()
		case sglang.PhaseAutotune:
			err = b.autotune()
		case sglang.PhaseGraphs:
			err = b.graphs()
		case sglang.PhaseHTTP:
			b.summary()
			err = b.until(1)
		}
		if err != nil {
			return fmt.Errorf("start, phase %s: %w", stage.Name, err)
		}
	}
	return nil
}

// booting is one phase of the start.
type booting struct {
	*server
	ctx    context.Context
	stage  Stage
	start  time.Time
	took   time.Duration
	looked *bool // what was to go wrong half way was looked at
}

// until waits until a share of the phase is over, counted from its start so
// that many short waits do not add up to a longer phase. Half way it looks for
// what is to go wrong.
func (b booting) until(part float64) error {
	if part >= 0.5 && !*b.looked {
		*b.looked = true
		if err := b.wait(0.5); err != nil {
			return err
		}
		if err := b.trouble(b.ctx, b.stage.Name); err != nil {
			return err
		}
	}
	return b.wait(part)
}

func (b booting) wait(part float64) error {
	return sleepUntil(b.ctx, b.start.Add(time.Duration(part*float64(b.took))))
}

// trouble is what happens in the middle of a phase: nothing, a failure that was
// asked for or that the setup brings about, or standing still until ctx ends.
func (s *server) trouble(ctx context.Context, phase sglang.PhaseName) error {
	faults, t := s.opt.faults, s.timing
	if f := faults.exit; f != nil && f.phase == phase && phase != sglang.PhaseServing && f.name != portInUse {
		return f
	}
	if faults.hang == phase {
		<-ctx.Done()
		return ctx.Err()
	}
	doomed := func(name string) error {
		c, err := findCause(name)
		if err != nil {
			return err
		}
		return &failure{cause: c, phase: phase}
	}
	switch {
	case phase == sglang.PhaseWeights && t.weightsGB() > t.model.GPUGB:
		return doomed("cuda-oom")
	case phase == sglang.PhaseKV && t.KVTokens() < max(t.setup.PageSize, minPool):
		return doomed("kv-too-small")
	}
	return nil
}

// minPool is a KV pool in tokens that is of no use.
const minPool = 16

// process reads the arguments; sglang looks then whether its internal port is
// free.
func (b booting) process(ctx context.Context) error {
	if b.asked.None("nccl_port") {
		return b.until(1)
	}
	port := b.asked.Int("nccl_port")
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return &failure{phase: sglang.PhaseProcess, cause: cause{name: "internal-port", died: inLauncher,
			text: fmt.Sprintf("ValueError: Port is already in use. dist_init_port=%d", port)}}
	}
	if err == nil {
		l.Close()
	}
	return b.until(1)
}

func (b booting) init() error {
	b.each(func(rank string) { b.log.ranked(rank, "Init torch distributed begin.") })
	if err := b.until(0.2); err != nil {
		return err
	}
	b.leaders(func(_ int, rank string) { b.log.ranked(rank, "sglang is using nccl==2.28.3") })
	if err := b.until(1); err != nil {
		return err
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "Init torch distributed ends. elapsed=%.2f s, mem usage=0.45 GB", time.Since(b.start).Seconds())
	})
	return nil
}

// meter is the time part of a tqdm bar.
func (b booting) meter(done, all int) string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60) }
	spent := time.Since(b.start)
	if done == 0 {
		return clock(spent) + "<?, ?it/s"
	}
	per := spent / time.Duration(done)
	return fmt.Sprintf("%s<%s, %.2fs/it", clock(spent), clock(per*time.Duration(all-done)), per.Seconds())
}

// bindError is uvicorn's text for a port that cannot be had.
func bindError(err error, host string, port int) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	return fmt.Sprintf("[Errno %d] error while attempting to bind on address ('%s', %d): %s", int(no), host, port, strings.ToLower(no.Error()))
}
