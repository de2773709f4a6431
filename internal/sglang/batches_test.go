package sglang

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBatches(t *testing.T) {
	const limits = "[2026-08-07 03:04:30 TP0] max_total_num_tokens=314304, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=64, context_len=202752, available_gpu_mem=6.10 GB\n"
	f := func(x float64) *float64 { return &x }
	n := func(x int) *int { return &x }
	rows := []struct {
		name, log string
		want      BatchStats
	}{
		{"nothing", "", BatchStats{}},
		{"v0.5.3", string(readLog(t, "good-v0.5.3-single-gpu")), BatchStats{Decode: 2, Prefill: 1, MaxRunning: n(3), MaxQueued: n(5),
			GraphShare: f(0.5), MaxTotalTokens: n(100000), MaxRunningRequests: n(2048), AvailableGPUMem: f(11), TokenUsage: f(0)}},
		{"v0.5.10 with speculation", limits +
			"[2026-08-07 03:05:00 TP0] Decode batch, #running-req: 32, #token: 12345, token usage: 0.04, accept len: 2.50, accept rate: 0.68, cuda graph: True, gen throughput (token/s): 841.02, #queue-req: 0\n" +
			"[2026-08-07 03:05:01 TP0] Decode batch, #running-req: 30, #token: 12345, token usage: 0.97, accept len: 3.50, accept rate: 0.68, cuda graph: True, gen throughput (token/s): 841.02, #queue-req: 7\n" +
			"[2026-08-07 03:05:02 TP0] Prefill batch, #new-seq: 1, #new-token: 9, #cached-token: 0, token usage: 0.00, #running-req: 40, #queue-req: 9, #pending-token: 0, cuda graph: False, input throughput (token/s): 5.22\n" +
			"[2026-08-07 03:05:03 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 100, #new_token_ratio: 0.9998 -> 1.0000\n" +
			"[2026-08-07 03:05:03 TP1] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 100, #new_token_ratio: 0.9998 -> 1.0000\n",
			BatchStats{Decode: 2, Prefill: 1, MaxRunning: n(40), MaxQueued: n(9), Retractions: 3, GraphShare: f(1), MaxTotalTokens: n(314304),
				MaxRunningRequests: n(64), AvailableGPUMem: f(6.1), AcceptLength: f(3), TokenUsage: f(0.97)}},
		{"a full KV pool", string(readLog(t, "sim-retractions-v0.5.14")), BatchStats{Decode: 8, Prefill: 8, MaxRunning: n(40), MaxQueued: n(18), Retractions: 5,
			GraphShare: f(1), MaxTotalTokens: n(8192), MaxRunningRequests: n(2048), AvailableGPUMem: f(8.38), TokenUsage: f(0.99)}},
		{"only the first pipeline stage", "[2026-08-07 03:05:00 PP1 TP0] max_total_num_tokens=5, max_running_requests=9\n" +
			"[2026-08-07 03:05:00 PP0 TP0] Decode batch [17], #running-req: 2, #token: 1, token usage: 0.01, cuda graph: False, gen throughput (token/s): 1.0, #queue-req: 0\n" +
			"[2026-08-07 03:05:00 PP1 TP0] Decode batch [17], #running-req: 8, #token: 1, token usage: 0.01, cuda graph: False, gen throughput (token/s): 1.0, #queue-req: 0\n",
			BatchStats{Decode: 1, MaxRunning: n(2), MaxQueued: n(0), GraphShare: f(0), TokenUsage: f(0.01)}},
		{"each data-parallel rank", "[2026-08-07 03:05:00 DP0 TP0] Decode batch, #running-req: 2, token usage: 0.01, #queue-req: 0\n" +
			"[2026-08-07 03:05:00 DP1 TP1] Decode batch, #running-req: 8, token usage: 0.02, #queue-req: 0\n",
			BatchStats{Decode: 2, MaxRunning: n(8), MaxQueued: n(0), TokenUsage: f(0.02)}},
		{"nonsense is not counted as a number", "[2026-08-07 03:05:00] Decode batch, #running-req: many, token usage: nan, cuda graph: perhaps, #queue-req: \n",
			BatchStats{Decode: 1}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, read([]byte(row.log)).Batches()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
