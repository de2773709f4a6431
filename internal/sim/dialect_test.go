package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sweep/internal/sglang"
)

func mustVersion(t *testing.T, v string) dialect {
	t.Helper()
	d, err := parseVersion(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestVersionsAreThoseOfTheFlagLists(t *testing.T) {
	if known := sglang.Versions(); !slices.Equal(versions(), known) {
		t.Errorf("simulated %v, lists %v", versions(), known)
	}
	if _, err := parseVersion("0.5.11"); err == nil {
		t.Error("0.5.11 was accepted")
	}
}

func TestBatchLinesOfEachVersion(t *testing.T) {
	b := batchState{running: 32, queued: 1, tokens: 12345, usage: 0.04, throughput: 841.02, graph: true, seqs: 2, cached: 64}
	spec := b
	spec.speculates, spec.accept, spec.rate = true, 2.73, 0.68
	const head = "Prefill batch, #new-seq: 2, #new-token: 12345, #cached-token: 64, token usage: 0.04, #running-req: 32, #queue-req: 1, "
	const decode = "Decode batch, #running-req: 32, #token: 12345, token usage: 0.04, cuda graph: True, gen throughput (token/s): 841.02, #queue-req: 1"
	for v, want := range map[string][2]string{
		"0.5.6.post2":  {head, decode + ", "},
		"0.5.8.post1":  {head, decode + ", "},
		"0.5.9":        {head + "input throughput (token/s): 841.02, cuda graph: False", decode},
		"0.5.10.post1": {head + "cuda graph: False, input throughput (token/s): 841.02", decode},
		"0.5.12.post1": {head + "#pending-token: 0, cuda graph: False, input throughput (token/s): 841.02", decode},
		"0.5.17":       {head + "#pending-token: 0, cuda graph: False, input throughput (token/s): 841.02", decode},
	} {
		d := mustVersion(t, v)
		if got := d.prefill(b); got != want[0] {
			t.Errorf("%s\n got %s\nwant %s", v, got, want[0])
		}
		if got := d.decode(b); got != want[1] {
			t.Errorf("%s\n got %s\nwant %s", v, got, want[1])
		}
		if got := d.decode(spec); !strings.Contains(got, "token usage: 0.04, accept len: 2.73, accept rate: 0.68, cuda graph") {
			t.Errorf("%s: %s", v, got)
		}
	}
	if old, now := mustVersion(t, "0.5.10.post1").acceptRate(2.73, 4), mustVersion(t, "0.5.17").acceptRate(2.73, 4); old < 0.68 || old > 0.69 || now < 0.57 || now > 0.58 {
		t.Errorf("accept rates %v %v", old, now)
	}
}

// Where FlashInfer's autotune runs, and where the flag does nothing.
func TestAutotuneOfEachVersion(t *testing.T) {
	for _, c := range []struct {
		version string
		setup   Setup
		want    bool
	}{
		{"0.5.6.post2", Setup{MoERunner: "flashinfer_trtllm"}, false}, // opt-in then
		{"0.5.6.post2", Setup{MoERunner: "flashinfer_trtllm", Autotune: true}, true},
		{"0.5.10.post1", Setup{MoERunner: "flashinfer_trtllm"}, true},
		{"0.5.10.post1", Setup{MoERunner: "flashinfer_trtllm", NoAutotune: true}, false},
		{"0.5.10.post1", Setup{MoERunner: "flashinfer_cutlass"}, false},
		{"0.5.10.post1", Setup{MoERunner: "flashinfer_cutedsl"}, false},
		{"0.5.12.post1", Setup{MoERunner: "flashinfer_cutlass"}, false},
		{"0.5.12.post1", Setup{MoERunner: "flashinfer_cutedsl"}, true},
		{"0.5.17", Setup{MoERunner: "flashinfer_cutlass"}, true},
		{"0.5.17", Setup{MoERunner: "triton", FP4GEMM: "flashinfer_cutlass"}, true},
		{"0.5.17", Setup{MoERunner: "triton"}, false},
	} {
		if got := mustVersion(t, c.version).tunes(c.setup); got != c.want {
			t.Errorf("%s %+v: %v", c.version, c.setup, got)
		}
	}
}

// The log of every version is read by the log reader: all phases, the pool, the
// batches of one stage, retractions.
func TestEveryVersionsLogReads(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			cmd, log := spawn(t, "--preset", "glm5", "--sglang-version", v, "--port", "0", "--time-scale", "200", "--startup-scale", "10", "--tp-size", "4", "--pp-size", "2",
				"--max-total-tokens", "1024", "--mem-fraction-static", "0.9", "--moe-runner-backend", "flashinfer_trtllm", "--decode-log-interval", "8")
			l := &live{t: t, log: log, url: log.wait(t, `Uvicorn running on (http://\S+)`)[1], client: newClient()}
			l.ready()
			l.burst(6, 60, 600)
			_, info := l.get("/server_info")
			if !strings.Contains(info, `"version":"`+v+`"`) {
				t.Errorf("/server_info has another version")
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // by our signal
			r := sglang.NewLogReader()
			r.Feed(time.Now(), []byte(log.String()))
			var phases []string
			for _, p := range r.Phases() {
				phases = append(phases, string(p.Name))
			}
			want := "process init weights kv-cache autotune graphs http warmup serving"
			if v == "0.5.6.post2" {
				want = strings.Replace(want, "autotune ", "", 1)
			}
			if got := strings.Join(phases, " "); got != want {
				t.Errorf("phases %s, want %s\n%s", got, want, log)
			}
			b := r.Batches()
			if b.MaxTotalTokens == nil || *b.MaxTotalTokens != 1024 || b.Decode == 0 || b.Prefill == 0 || b.Retractions == 0 || b.MaxRunning == nil || b.GraphShare == nil || *b.GraphShare != 1 {
				t.Errorf("batches %+v\n%s", b, log)
			}
			if cause := r.Cause(); cause != nil {
				t.Errorf("a sane log has the cause %+v", *cause)
			}
			if n := strings.Count(log.String(), " PP1 TP0] Decode batch"); n == 0 || n != strings.Count(log.String(), " PP0 TP0] Decode batch") {
				t.Errorf("%d decode lines of the second stage", n)
			}
		})
	}
}

// Replicas log their own shares, which add up.
func TestReplicasLogTheirShares(t *testing.T) {
	t.Parallel()
	l := start(t, "--tp", "2", "--dp", "2", "--time-scale", "2", "--decode-log-interval", "10").ready()
	l.burst(3, 8, 40)
	m := l.log.wait(t, `DP0 TP0\] Decode batch, #running-req: 2, [^\n]*\n[^\n]* DP1 TP0\] Decode batch, #running-req: 1,`)
	if m == nil {
		t.Error("no shares")
	}
	got := ranks(Setup{TP: 4, PP: 1, DP: 2, DPAttention: true}, 1)
	if want := []string{" DP0 TP0", " DP0 TP1", " DP1 TP2", " DP1 TP3"}; !slices.Equal(got, want) {
		t.Errorf("ranks with attention replicas: %v", got)
	}
}

// A draft model goes through a second round, and acceptance shows everywhere.
func TestSpeculativeServer(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "20", "--speculative-algorithm", "EAGLE", "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
		"--speculative-num-draft-tokens", "8", "--decode-log-interval", "5", "--enable-metrics").ready()
	inOrder(t, l.log.String(), "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1", "Load weight end", "Capture cuda graph end", "type=LlamaForCausalLMNextN", "Capture draft cuda graph end", "max_total_num_tokens=")
	r, err := l.stream(body(1, 8, 120))
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i := 1; i < len(r.events); i++ {
		most = max(most, r.events[i].Meta.Completion-r.events[i-1].Meta.Completion)
	}
	if n := r.final().Meta.Completion; n != 120 || len(r.events) > 80 || most < 2 {
		t.Errorf("%d tokens in %d events, at most %d", n, len(r.events), most)
	}
	if _, whole := l.raw("/generate", `{"text":"a","sampling_params":{"max_new_tokens":50,"ignore_eos":true}}`); !strings.Contains(whole, `"spec_accept_length":`) || !strings.Contains(whole, `"spec_verify_ct":`) {
		t.Errorf("%s", whole)
	}
	if _, info := l.get("/server_info"); !strings.Contains(info, `"avg_spec_accept_length":`) || !strings.Contains(info, `"speculative_num_draft_tokens":4`) {
		t.Errorf("%s", info)
	}
	if _, text := l.get("/metrics"); !strings.Contains(text, "sglang:spec_accept_length{") {
		t.Error("no spec_accept_length in /metrics")
	}
	l.log.wait(t, `Decode batch, #running-req: 1, #token: \d+, token usage: 0.00, accept len: [123]\.\d\d, accept rate: 0\.\d\d, cuda graph: True`)
}
