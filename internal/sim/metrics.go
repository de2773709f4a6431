package sim

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
)

// metrics is what /metrics counts.
type metrics struct {
	prompt, generated, cached, requests, aborted atomic.Int64
	retracted                                    atomic.Int64
	decoded, verified                            atomic.Int64 // tokens of decode steps; requests times decode steps
	ttft, itl, e2e, queue                        *histogram
}

func newMetrics() *metrics {
	slow := []float64{0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
	return &metrics{
		ttft: newHistogram(slow...), e2e: newHistogram(slow...), queue: newHistogram(slow...),
		itl: newHistogram(0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8),
	}
}

// write prints everything as Prometheus text under sglang's names.
func (m *metrics) write(w io.Writer, g gauges, t Timing, model string) {
	labels := "model_name=" + strconv.Quote(model) + `,engine_type="unified",tp_rank="0",pp_rank="0",moe_ep_rank="0"`
	one := func(name, kind string, v float64) {
		fmt.Fprintf(w, "# TYPE sglang:%s %s\nsglang:%s{%s} %s\n", name, kind, name, labels, strconv.FormatFloat(v, 'g', -1, 64))
	}
	graph := 0.0
	if g.graph {
		graph = 1
	}
	one("num_running_reqs", "gauge", float64(g.running))
	one("num_queue_reqs", "gauge", float64(g.queued))
	one("num_used_tokens", "gauge", float64(g.held))
	one("token_usage", "gauge", g.usage)
	one("max_total_num_tokens", "gauge", float64(t.KVTokens()))
	one("gen_throughput", "gauge", g.throughput)
	one("is_cuda_graph", "gauge", graph)
	one("num_retracted_reqs", "gauge", float64(g.retracted))
	one("new_token_ratio", "gauge", g.ratio)
	one("cache_hit_rate", "gauge", float64(m.cached.Load())/float64(max(m.prompt.Load(), 1)))
	if t.setup.Spec.on() {
		one("spec_accept_length", "gauge", g.accept)
		one("spec_accept_rate", "gauge", g.rate)
	}
	one("prompt_tokens_total", "counter", float64(m.prompt.Load()))
	one("generation_tokens_total", "counter", float64(m.generated.Load()))
	one("cached_tokens_total", "counter", float64(m.cached.Load()))
	one("num_requests_total", "counter", float64(m.requests.Load()))
	one("num_aborted_requests_total", "counter", float64(m.aborted.Load()))
	if t.dialect.from(9) {
		one("num_retracted_requests_total", "counter", float64(m.retracted.Load()))
	}
	m.ttft.write(w, "time_to_first_token_seconds", labels)
	m.itl.write(w, "inter_token_latency_seconds", labels)
	m.e2e.write(w, "e2e_request_latency_seconds", labels)
	m.queue.write(w, "queue_time_seconds", labels)
}

// histogram counts seconds in fixed buckets. Safe for concurrent use.
type histogram struct {
	mu     sync.Mutex
	limits []float64
	counts []int64 // of values up to the limit and above the one before
	all    int64
	sum    float64
}

func newHistogram(limits ...float64) *histogram {
	return &histogram{limits: limits, counts: make([]int64, len(limits))}
}

// observe counts a value n times.
func (h *histogram) observe(seconds float64, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all += int64(n)
	h.sum += seconds * float64(n)
	for i, limit := range h.limits {
		if seconds <= limit {
			h.counts[i] += int64(n)
			return
		}
	}
}

func (h *histogram) write(w io.Writer, name, labels string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(w, "# TYPE sglang:%s histogram\n", name)
	var below int64
	for i, limit := range h.limits {
		below += h.counts[i]
		fmt.Fprintf(w, "sglang:%s_bucket{le=\"%g\",%s} %d\n", name, limit, labels, below)
	}
	fmt.Fprintf(w, "sglang:%s_bucket{le=\"+Inf\",%s} %d\nsglang:%s_count{%s} %d\nsglang:%s_sum{%s} %g\n",
		name, labels, h.all, name, labels, h.all, name, labels, h.sum)
}
