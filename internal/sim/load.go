package sim

import (
	"fmt"
	"strings"
	"time"
)

// draftShare is how large the draft model of speculative decoding is against
// the model: about one of GLM-5's 78 layers and the head.
const draftShare = 0.02

func (b booting) weights() error {
	t := b.timing
	arch, used, before, n := t.model.Arch, t.weightsGB(), t.model.GPUGB, t.model.Shards
	if b.stage.Draft {
		arch, before, n = arch+"NextN", t.freeGB(), 1
		used *= draftShare
	}
	b.each(func(rank string) { b.log.ranked(rank, "Load weight begin. avail mem=%.2f GB", before) })
	title := "Loading safetensors checkpoint shards"
	if strings.Contains(b.args.Text("model_loader_extra_config"), "enable_multithread_load") {
		title = "Multi-thread loading shards"
	}
	for i := range n + 1 {
		if err := b.until(float64(i) / float64(n)); err != nil {
			return err
		}
		b.log.bar("%s: %3d%% Completed | %d/%d [%s]\n", title, 100*i/n, i, n, b.meter(i, n))
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "%s", t.dialect.loaded(time.Since(b.start).Seconds(), arch, b.args.Text("quantization"), before-used, used))
	})
	return nil
}

func (b booting) kv() error {
	t := b.timing
	b.each(func(rank string) { b.log.ranked(rank, "Using KV cache dtype: torch.%s", t.setup.KVDtype) })
	if err := b.until(1); err != nil {
		return err
	}
	gb, free := t.kvGB(), t.freeGB()+t.graphGB()
	if b.stage.Draft {
		gb *= draftShare
		free = t.freeGB()
	}
	size := fmt.Sprintf("KV size: %.2f GB", gb)
	if t.model.KVSplit {
		size = fmt.Sprintf("K size: %.2f GB, V size: %.2f GB", gb/2, gb/2)
	}
	b.each(func(rank string) {
		b.log.ranked(rank, "%s", t.dialect.allocated(t.setup.KVDtype, t.KVTokens()/t.setup.DP, size))
		b.log.ranked(rank, "Memory pool end. avail mem=%.2f GB", free)
	})
	return nil
}

func (b booting) autotune() error {
	b.each(func(rank string) { b.log.ranked(rank, "%s", b.timing.dialect.tuning(rank)) })
	if err := b.until(1); err != nil {
		return err
	}
	b.each(func(rank string) { b.log.ranked(rank, "FlashInfer autotune completed.") })
	return nil
}

func (b booting) graphs() error {
	t := b.timing
	what, perReq, used := "target decode", 1, t.graphGB()
	if t.setup.Spec.on() {
		what, perReq = "target verify", t.setup.Spec.Drafts
	}
	free := t.freeGB() + used
	if b.stage.Draft {
		what, perReq, used, free = "draft decode", 1, used*draftShare, t.freeGB()
	}
	begin := t.dialect.captureBegin(what, perReq, t.capture, free)
	b.each(func(rank string) { b.log.ranked(rank, "%s", begin[0]) })
	b.leaders(func(_ int, rank string) {
		for _, l := range begin[1:] {
			b.log.ranked(rank, "%s", l)
		}
	})
	n := len(t.capture)
	for i := range n + 1 {
		if err := b.until(float64(i) / float64(n)); err != nil {
			return err
		}
		bs := t.capture[max(n-1-i, 0)] // largest first
		b.log.bar("Capturing batches (bs=%d avail_mem=%.2f GB): %3d%%|%-10s| %d/%d [%s]",
			bs, free-used*float64(i)/float64(n), 100*i/n, strings.Repeat("█", 10*i/n), i, n, b.meter(i, n))
	}
	b.log.bar("\n")
	b.each(func(rank string) {
		b.log.ranked(rank, "%s", t.dialect.captureEnd(what, time.Since(b.start).Seconds(), used, free-used))
	})
	return nil
}

// summary is the line that sums up what is allocated, before the HTTP server
// comes up.
func (b booting) summary() {
	t := b.timing
	b.leaders(func(_ int, rank string) {
		b.log.ranked(rank, "max_total_num_tokens=%d, chunked_prefill_size=%d, max_prefill_tokens=%d, max_running_requests=%d, context_len=%d, available_gpu_mem=%.2f GB",
			t.KVTokens()/t.setup.DP, t.setup.ChunkedPrefill, t.setup.MaxPrefill, t.MaxRunning()/t.setup.DP, t.setup.Context, t.freeGB())
	})
}

// graphGB is what captured graphs take on each GPU (invented, in proportion to
// the list).
func (t Timing) graphGB() float64 { return 1.5 * float64(len(t.capture)) / 52 }

// freeGB is what a GPU has left when everything is allocated.
func (t Timing) freeGB() float64 { return t.model.GPUGB - t.weightsGB() - t.kvGB() - t.graphGB() }
