package sim

import (
	"fmt"
	"sync/atomic"
	"time"
)

// gauges is the state of the scheduler as of the last logged batch; sglang's
// own gauges are no fresher.
type gauges struct {
	running, queued int
	held            int     // tokens of the KV pool in use
	usage           float64 // share of the KV pool
	throughput      float64 // output tok/s since the decode line before
	graph           bool
	retracted       int     // requests put back by the last retraction
	ratio           float64 // new_token_ratio
	accept, rate    float64 // speculative decoding, since the decode line before
}

// batchLog writes the lines about batches: each prefill, and every so many
// decode steps, from the first tensor rank of every pipeline stage and replica.
// Only the engine's goroutine calls it; last may be read by anybody.
type batchLog struct {
	log      *logger
	timing   Timing
	leaders  func(func(dp int, rank string))
	interval int // decode steps a line

	steps       int
	tokens      int // output tokens since the last decode line
	checks      int // requests times steps since then
	since       time.Time
	lastPrefill time.Time
	last        atomic.Pointer[gauges]
}

func newBatchLog(log *logger, t Timing, leaders func(func(int, string)), interval int) *batchLog {
	now := time.Now()
	b := &batchLog{log: log, timing: t, leaders: leaders, interval: max(interval, 1), since: now, lastPrefill: now}
	b.last.Store(&gauges{})
	return b
}

// prefill logs a prefill batch as it begins. The throughput is that since the
// prefill line before, as sglang computes it.
func (b *batchLog) prefill(st Step, s *Scheduler) {
	now, dp := time.Now(), b.timing.setup.DP
	rate := float64(st.Tokens) / max(now.Sub(b.lastPrefill).Seconds(), 1e-6)
	b.lastPrefill = now
	g := b.gauges(s)
	b.leaders(func(of int, rank string) {
		each := func(n int) int { return share(n, dp, of) }
		busy := min(dp, st.New) // replicas with a part of the batch; the others are silent
		if of >= busy {
			return
		}
		b.log.ranked(rank, "%s", b.timing.dialect.prefill(batchState{
			seqs: each(st.New), tokens: share(st.Tokens, busy, of), cached: share(st.Cached, busy, of), usage: g.usage,
			running: each(g.running), queued: each(g.queued), throughput: rate / float64(busy),
		}))
	})
	was := b.last.Load()
	g.throughput, g.accept, g.rate = was.throughput, was.accept, was.rate
	b.last.Store(&g)
}

// decode counts a decode step at its end and logs every interval-th.
func (b *batchLog) decode(st Step, s *Scheduler, tokens int) {
	b.steps++
	b.tokens += tokens
	b.checks += len(st.Seqs)
	if b.steps%b.interval != 0 {
		return
	}
	now, dp := time.Now(), b.timing.setup.DP
	g := b.gauges(s)
	g.running, g.graph = len(st.Seqs), st.Graph
	g.throughput = float64(b.tokens) / max(now.Sub(b.since).Seconds(), 1e-6)
	spec := b.timing.setup.Spec
	if spec.on() {
		g.accept = float64(b.tokens) / float64(max(b.checks, 1))
		g.rate = b.timing.dialect.acceptRate(g.accept, spec.Drafts)
	}
	b.tokens, b.checks, b.since = 0, 0, now
	b.last.Store(&g)
	busy := min(dp, g.running)
	b.leaders(func(of int, rank string) {
		if of >= busy {
			return
		}
		b.log.ranked(rank, "%s", b.timing.dialect.decode(batchState{
			running: share(g.running, dp, of), tokens: share(g.held, busy, of), usage: g.usage,
			graph: g.graph, throughput: g.throughput / float64(busy), queued: share(g.queued, dp, of),
			speculates: spec.on(), accept: g.accept, rate: g.rate,
		}))
	})
}

// retracted logs that requests had to give way. The replicas share one pool
// here, so only the first speaks.
func (b *batchLog) retracted(r *Retraction) {
	b.leaders(func(of int, rank string) {
		if of == 0 {
			b.log.ranked(rank, "%s", fmt.Sprintf("KV cache pool is full. Retract requests. #retracted_reqs: %d, #new_tokens_gained: %d, #new_token_ratio: %.4f -> %.4f",
				len(r.Seqs), r.Gained, r.From, r.To))
		}
	})
	g := *b.last.Load()
	g.retracted = len(r.Seqs)
	b.last.Store(&g)
}

func (b *batchLog) gauges(s *Scheduler) gauges {
	return gauges{
		running: s.Running(), queued: s.Queued(), held: s.Held(), ratio: s.ratio.now,
		usage: float64(s.Held()) / float64(b.timing.KVTokens()),
	}
}

// share is the part of n that one of several replicas has.
func share(n, replicas, one int) int { return (n + replicas - 1 - one) / replicas }
