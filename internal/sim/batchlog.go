package sim

import (
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
}

// batchLog writes the lines about batches: each prefill, and every so many
// decode steps. Only the engine's goroutine calls it; last may be read by
// anybody.
type batchLog struct {
	log      *logger
	timing   Timing
	leaders  func(func(rank string))
	interval int // decode steps a line

	steps       int
	tokens      int // output tokens since the last decode line
	since       time.Time
	lastPrefill time.Time
	last        atomic.Pointer[gauges]
}

func newBatchLog(log *logger, t Timing, leaders func(func(string)), interval int) *batchLog {
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
	b.leaders(func(rank string) {
		b.log.ranked(rank, "Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: %d, token usage: %.2f, #running-req: %d, #queue-req: %d, cuda graph: False, input throughput (token/s): %.2f",
			(st.New+dp-1)/dp, st.Tokens/dp, st.Cached/dp, g.usage, g.running/dp, g.queued/dp, rate/float64(dp))
	})
	g.throughput = b.last.Load().throughput
	b.last.Store(&g)
}

// decode counts a decode step at its end and logs every interval-th.
func (b *batchLog) decode(st Step, s *Scheduler) {
	b.steps++
	b.tokens += len(st.Seqs)
	if b.steps%b.interval != 0 {
		return
	}
	now, dp := time.Now(), b.timing.setup.DP
	g := b.gauges(s)
	g.running, g.graph = len(st.Seqs), st.Graph
	g.throughput = float64(b.tokens) / max(now.Sub(b.since).Seconds(), 1e-6)
	b.tokens, b.since = 0, now
	b.last.Store(&g)
	b.leaders(func(rank string) {
		b.log.ranked(rank, "Decode batch, #running-req: %d, #token: %d, token usage: %.2f, cuda graph: %s, gen throughput (token/s): %.2f, #queue-req: %d",
			(g.running+dp-1)/dp, g.held/dp, g.usage, repr(g.graph), g.throughput/float64(dp), g.queued/dp)
	})
}

func (b *batchLog) gauges(s *Scheduler) gauges {
	return gauges{
		running: s.Running(), queued: s.Queued(), held: s.Held(),
		usage: float64(s.Held()) / float64(b.timing.KVTokens()),
	}
}
