package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sweep/internal/sglang"
)

// boot goes through the start of the server up to, but not including, its HTTP
// port: every line in sglang's order, every phase as long as the timing says. It
// returns a *failure when this server cannot start.
func (s *server) boot(ctx context.Context) error {
	for _, w := range warnings(s.asked, s.timing) {
		s.log.line("%s", w)
	}
	s.log.line("server_args=%s", s.args)
	for _, stage := range s.timing.Startup() {
		b := booting{server: s, ctx: ctx, start: time.Now(), took: s.startup(stage.Time)}
		var err error
		switch stage.Name {
		case sglang.PhaseProcess:
			err = b.until(1)
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

// summary is the line that sums up what is allocated, before the HTTP server
// comes up.
func (b booting) summary() {
	t := b.timing
	b.leaders(func(rank string) {
		b.log.ranked(rank, "max_total_num_tokens=%d, chunked_prefill_size=%d, max_prefill_tokens=%d, max_running_requests=%d, context_len=%d, available_gpu_mem=%.2f GB",
			t.KVTokens()/t.setup.DP, t.setup.ChunkedPrefill, t.setup.MaxPrefill, t.MaxRunning()/t.setup.DP, t.setup.Context, t.freeGB())
	})
}

// graphGB is what captured graphs take on each GPU (invented, in proportion to
// the list).
func (t Timing) graphGB() float64 { return 1.5 * float64(len(t.capture)) / 52 }

// freeGB is what a GPU has left when everything is allocated.
func (t Timing) freeGB() float64 { return t.model.GPUGB - t.weightsGB() - t.kvGB() - t.graphGB() }

// booting is one phase of the start.
type booting struct {
	*server
	ctx   context.Context
	start time.Time
	took  time.Duration
}

// until waits until a share of the phase is over, counted from its start so
// that many short waits do not add up to a longer phase.
func (b booting) until(share float64) error {
	return sleepUntil(b.ctx, b.start.Add(time.Duration(share*float64(b.took))))
}

func (b booting) init() error {
	b.each(func(rank string) { b.log.ranked(rank, "Init torch distributed begin.") })
	if err := b.until(0.2); err != nil {
		return err
	}
	b.leaders(func(rank string) { b.log.ranked(rank, "sglang is using nccl==2.28.3") })
	if err := b.until(1); err != nil {
		return err
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "Init torch distributed ends. elapsed=%.2f s, mem usage=0.45 GB", time.Since(b.start).Seconds())
	})
	return nil
}

func (b booting) weights() error {
	t := b.timing
	b.each(func(rank string) { b.log.ranked(rank, "Load weight begin. avail mem=%.2f GB", t.model.GPUGB) })
	title := "Loading safetensors checkpoint shards"
	if strings.Contains(b.args.Text("model_loader_extra_config"), "enable_multithread_load") {
		title = "Multi-thread loading shards"
	}
	n := t.model.Shards
	for i := range n + 1 {
		if err := b.until(float64(i) / float64(n)); err != nil {
			return err
		}
		b.log.bar("%s: %3d%% Completed | %d/%d [%s]\n", title, 100*i/n, i, n, b.meter(i, n))
		if f := t.doomed(sglang.PhaseWeights, b.opt.fault); f != nil && i >= n/2 {
			return f
		}
	}
	quant := ""
	if q := b.args.Text("quantization"); q != "" {
		quant = "quant=" + q + ", "
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "Load weight end. elapsed=%.2f s, type=%s, %savail mem=%.2f GB, mem usage=%.2f GB.",
			time.Since(b.start).Seconds(), t.model.Arch, quant, t.model.GPUGB-t.weightsGB(), t.weightsGB())
	})
	return nil
}

func (b booting) kv() error {
	t := b.timing
	b.each(func(rank string) { b.log.ranked(rank, "Using KV cache dtype: torch.%s", t.setup.KVDtype) })
	if f := t.doomed(sglang.PhaseKV, b.opt.fault); f != nil {
		return f
	}
	if err := b.until(1); err != nil {
		return err
	}
	size := fmt.Sprintf("KV size: %.2f GB", t.kvGB())
	if t.model.KVSplit {
		size = fmt.Sprintf("K size: %.2f GB, V size: %.2f GB", t.kvGB()/2, t.kvGB()/2)
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "KV Cache is allocated. #tokens: %d, %s", t.KVTokens()/t.setup.DP, size)
		b.log.ranked(rank, "Memory pool end. avail mem=%.2f GB", t.freeGB()+t.graphGB())
	})
	return nil
}

func (b booting) autotune() error {
	b.each(func(rank string) { b.log.ranked(rank, "Running FlashInfer autotune...") })
	if err := b.until(1); err != nil {
		return err
	}
	b.each(func(rank string) { b.log.ranked(rank, "FlashInfer autotune completed.") })
	return nil
}

func (b booting) graphs() error {
	t := b.timing
	free := t.freeGB() + t.graphGB()
	b.each(func(rank string) {
		b.log.ranked(rank, "Capture cuda graph begin. This can take up to several minutes. avail mem=%.2f GB", free)
	})
	b.leaders(func(rank string) { b.log.ranked(rank, "Capture cuda graph bs %s", repr(t.capture)) })
	n := len(t.capture)
	for i := range n + 1 {
		if err := b.until(float64(i) / float64(n)); err != nil {
			return err
		}
		bs := t.capture[max(n-1-i, 0)] // largest first
		b.log.bar("Capturing batches (bs=%d avail_mem=%.2f GB): %3d%%|%-10s| %d/%d [%s]",
			bs, free-t.graphGB()*float64(i)/float64(n), 100*i/n, strings.Repeat("█", 10*i/n), i, n, b.meter(i, n))
	}
	b.log.bar("\n")
	b.each(func(rank string) {
		b.log.ranked(rank, "Capture cuda graph end. Time elapsed: %.2f s. mem usage=%.2f GB. avail mem=%.2f GB.",
			time.Since(b.start).Seconds(), t.graphGB(), t.freeGB())
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

// each calls f with the log prefix of every rank.
func (s *server) each(f func(rank string)) {
	for _, r := range s.ranks {
		f(r)
	}
}

// leaders calls f with the log prefix of the first tensor rank of every
// pipeline stage and replica; those log what is the same on the others.
func (s *server) leaders(f func(rank string)) {
	for i := 0; i < len(s.ranks); i += s.timing.setup.TP {
		f(s.ranks[i])
	}
}
