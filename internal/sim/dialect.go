package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// defaultVersion is simulated when none is asked for.
const defaultVersion = "0.5.10.post1"

// versions are the releases of sglang that can be simulated.
func versions() []string {
	return []string{"0.5.6.post2", "0.5.8.post1", "0.5.9", "0.5.10.post1", "0.5.12.post1", "0.5.14", "0.5.16", "0.5.17"}
}

// dialect is one release of sglang: how it writes its log and what its API has.
// The texts are those of sglang's sources; where only 0.5.10.post1 and 0.5.17
// were compared, the newer form is taken to begin with 0.5.14.
type dialect struct {
	version string
	minor   int // the 10 of 0.5.10.post1
}

func parseVersion(v string) (dialect, error) {
	v = strings.TrimPrefix(v, "v")
	if !slices.Contains(versions(), v) {
		return dialect{}, fmt.Errorf("invalid choice: %s (choose from %s)", quoted(v), strings.Join(versions(), ", "))
	}
	minor, err := strconv.Atoi(strings.Split(v, ".")[2])
	return dialect{version: v, minor: minor}, err
}

// from says whether this is 0.5.n or newer.
func (d dialect) from(n int) bool { return d.minor >= n }

// batchState is what a batch line tells, of one data parallel rank.
type batchState struct {
	running, queued   int
	tokens            int // decode: in the KV pool; prefill: new
	seqs, cached      int // prefill only
	usage, throughput float64
	graph             bool
	speculates        bool
	accept, rate      float64 // speculative decoding
}

// decode is a "Decode batch" line.
func (d dialect) decode(b batchState) string {
	s := fmt.Sprintf("Decode batch, #running-req: %d, #token: %d, token usage: %.2f, ", b.running, b.tokens, b.usage)
	if b.speculates {
		s += fmt.Sprintf("accept len: %.2f, accept rate: %.2f, ", b.accept, b.rate)
	}
	s += fmt.Sprintf("cuda graph: %s, gen throughput (token/s): %.2f, #queue-req: %d", repr(b.graph), b.throughput, b.queued)
	if !d.from(9) {
		s += ", "
	}
	return s
}

// prefill is a "Prefill batch" line.
func (d dialect) prefill(b batchState) string {
	s := fmt.Sprintf("Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: %d, token usage: %.2f, #running-req: %d, #queue-req: %d, ",
		b.seqs, b.tokens, b.cached, b.usage, b.running, b.queued)
	input := fmt.Sprintf("input throughput (token/s): %.2f", b.throughput)
	switch {
	case d.from(11):
		return s + "#pending-token: 0, cuda graph: False, " + input
	case d.from(10):
		return s + "cuda graph: False, " + input
	case d.from(9):
		return s + input + ", cuda graph: False"
	}
	return s
}

// acceptRate is the share of drafts that were right, as each release counts it:
// tokens out of tokens checked, since 0.5.14 drafts out of drafts.
func (d dialect) acceptRate(length float64, drafts int) float64 {
	if d.from(14) {
		return (length - 1) / float64(max(drafts-1, 1))
	}
	return length / float64(max(drafts, 1))
}

// loaded is the end of loading a rank's weights.
func (d dialect) loaded(seconds float64, arch, quant string, free, used float64) string {
	if quant != "" {
		quant = "quant=" + quant + ", "
	}
	if d.from(9) {
		return fmt.Sprintf("Load weight end. elapsed=%.2f s, type=%s, %savail mem=%.2f GB, mem usage=%.2f GB.", seconds, arch, quant, free, used)
	}
	return fmt.Sprintf("Load weight end. type=%s, dtype=torch.bfloat16, avail mem=%.2f GB, mem usage=%.2f GB.", arch, free, used)
}

// allocated is the KV pool's line.
func (d dialect) allocated(dtype string, tokens int, size string) string {
	if d.from(14) {
		return fmt.Sprintf("KV Cache is allocated. dtype: torch.%s, #tokens: %d, %s", dtype, tokens, size)
	}
	return fmt.Sprintf("KV Cache is allocated. #tokens: %d, %s", tokens, size)
}

// tuning is the begin of FlashInfer's autotune.
func (d dialect) tuning(rank string) string {
	if d.from(14) {
		return "Running FlashInfer autotune with cache: /root/.cache/sglang/flashinfer/autotune/0.6.2/sm120/rank" +
			strings.ToLower(strings.ReplaceAll(rank, " ", "_")) + ".json"
	}
	return "Running FlashInfer autotune..."
}

// captureBegin begins the capture of CUDA graphs; what is "target decode", or
// the like for a draft model.
func (d dialect) captureBegin(what string, perReq int, sizes []int, free float64) []string {
	if d.from(14) {
		return []string{fmt.Sprintf("Capture %s CUDA graph begin. backend=full, num_tokens_per_req=%d, bs=%s, avail mem=%.2f GB", what, perReq, repr(sizes), free)}
	}
	draft := ""
	if strings.HasPrefix(what, "draft") {
		draft = "draft "
	}
	return []string{
		fmt.Sprintf("Capture %scuda graph begin. This can take up to several minutes. avail mem=%.2f GB", draft, free),
		"Capture cuda graph bs " + repr(sizes),
	}
}

// captureEnd ends it.
func (d dialect) captureEnd(what string, seconds, used, free float64) string {
	if d.from(14) {
		return fmt.Sprintf("Capture %s CUDA graph end. elapsed=%.2f s, mem usage=%.2f GB, avail mem=%.2f GB.", what, seconds, used, free)
	}
	draft := ""
	if strings.HasPrefix(what, "draft") {
		draft = "draft "
	}
	return fmt.Sprintf("Capture %scuda graph end. Time elapsed: %.2f s. mem usage=%.2f GB. avail mem=%.2f GB.", draft, seconds, used, free)
}

// deadRank is what the parent says of a rank that ended while it loaded.
func (d dialect) deadRank(rank, code int) string {
	if d.from(10) {
		return fmt.Sprintf("Rank %d scheduler died during initialization (exit code: %d). If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.", rank, code)
	}
	return fmt.Sprintf("Rank %d scheduler is dead. Please check if there are relevant logs.", rank)
}

// lostRank is what the parent says of a rank that ended while it served; before
// 0.5.10 nobody looked.
func (d dialect) lostRank(rank int) string {
	if d.from(10) {
		return fmt.Sprintf("Subprocess scheduler_%d (pid=4711) crashed with exit code -9. Triggering SIGQUIT for cleanup...", rank)
	}
	return ""
}

// tunes says whether FlashInfer's autotune runs at start. It is opt-in in
// 0.5.6; from 0.5.7 to 0.5.12 it runs for the trtllm and mxfp4 MoE backends
// only, since then for the CUTLASS ones too.
func (d dialect) tunes(s Setup) bool {
	switch moe := s.MoERunner; {
	case s.NoAutotune || !d.from(7) && !s.Autotune:
		return false
	case moe == "flashinfer_trtllm", moe == "flashinfer_mxfp4":
		return true
	case d.from(12) && moe == "flashinfer_cutedsl":
		return true
	case d.from(14):
		return moe == "flashinfer_cutlass" || moe == "flashinfer_trtllm_routed" ||
			s.FP4GEMM == "flashinfer_cutlass" || s.FP4GEMM == "flashinfer_cutedsl"
	}
	return false
}
