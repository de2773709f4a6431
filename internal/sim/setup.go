package sim

import "cmp"

// Setup is what the timing of a server depends on, as the flags and the
// environment ask for it. A zero number or empty word means "not asked": the
// preset or sglang's own rule decides.
type Setup struct {
	TP, PP, DP     int // ranks; 0 means 1
	MaxRunning     int // requests
	MaxTotalTokens int
	MemFraction    float64
	ChunkedPrefill int // tokens; -1: whole prompts only
	MaxPrefill     int // tokens
	PageSize       int // tokens
	Context        int // tokens

	GraphsOff  bool
	GraphMaxBS int
	GraphBS    []int // batch sizes to capture, instead of the default list

	NoPrefixCache    bool
	Conservativeness float64 // schedule_conservativeness; 0 means 1
	DPAttention      bool    // replicas of the attention lie inside the tensor ranks
	Spec             Spec

	NoOverlap  bool
	NoAutotune bool
	Autotune   bool // --enable-flashinfer-autotune of 0.5.6
	FP4GEMM    string
	Version    string // of sglang; "" is the default one
	Attention  string
	MoERunner  string
	Quant      string
	KVDtype    string

	Watchdog float64 // seconds

	NoP2P bool    // NCCL_P2P_DISABLE=1
	Noise float64 // factor on every step of this start; 0 means 1
}

// setupFrom reads a setup from parsed server arguments and the environment.
func setupFrom(a Args, version string, getenv func(string) string, noise float64) Setup {
	return Setup{
		Version: version,
		TP:      a.Int("tp_size"), PP: a.Int("pp_size"), DP: a.Int("dp_size"),
		MaxRunning:     a.Int("max_running_requests"),
		MaxTotalTokens: a.Int("max_total_tokens"),
		MemFraction:    a.Float("mem_fraction_static"),
		ChunkedPrefill: a.Int("chunked_prefill_size"),
		MaxPrefill:     a.Int("max_prefill_tokens"),
		PageSize:       a.Int("page_size"),
		Context:        a.Int("context_length"),
		// The second names are those since 0.5.14, which keeps the first as aliases.
		GraphsOff:        a.Bool("disable_cuda_graph") || a.Bool("disable_decode_cuda_graph") || a.Text("cuda_graph_backend_decode") == "disabled",
		GraphMaxBS:       cmp.Or(a.Int("cuda_graph_max_bs"), a.Int("cuda_graph_max_bs_decode")),
		GraphBS:          append(a.Ints("cuda_graph_bs"), a.Ints("cuda_graph_bs_decode")...),
		NoPrefixCache:    a.Bool("disable_radix_cache"),
		Conservativeness: a.Float("schedule_conservativeness"),
		DPAttention:      a.Bool("enable_dp_attention"),
		Spec: Spec{
			Algorithm: a.Text("speculative_algorithm"), Steps: a.Int("speculative_num_steps"),
			TopK: a.Int("speculative_eagle_topk"), Drafts: a.Int("speculative_num_draft_tokens"),
		},
		NoOverlap:  a.Bool("disable_overlap_schedule"),
		NoAutotune: a.Bool("disable_flashinfer_autotune"),
		Autotune:   a.Bool("enable_flashinfer_autotune"),
		FP4GEMM:    a.Text("fp4_gemm_backend"),
		Attention:  a.Text("attention_backend"),
		MoERunner:  a.Text("moe_runner_backend"),
		Quant:      a.Text("quantization"),
		KVDtype:    a.Text("kv_cache_dtype"),
		Watchdog:   a.Float("watchdog_timeout"),
		NoP2P:      getenv("NCCL_P2P_DISABLE") == "1",
		Noise:      noise,
	}
}

// resolved fills in what was not asked for, as far as one flag decides it.
func (s Setup) resolved(m Model) Setup {
	s.TP, s.PP, s.DP = max(s.TP, 1), max(s.PP, 1), max(s.DP, 1)
	if s.MemFraction == 0 {
		s.MemFraction = m.MemFraction
	}
	if s.ChunkedPrefill == 0 {
		s.ChunkedPrefill = m.Chunk
	}
	if s.MaxPrefill == 0 {
		s.MaxPrefill = 16384 // sglang's default
	}
	if m.PageSize > 1 || s.PageSize == 0 {
		s.PageSize = m.PageSize // sparse attention forces its page size
	}
	if s.Context == 0 {
		s.Context = m.Context
	}
	if s.GraphMaxBS == 0 {
		s.GraphMaxBS = m.GraphMaxBS
	}
	if s.Attention == "" {
		s.Attention = m.Attention
	}
	if (s.MoERunner == "" || s.MoERunner == "auto") && m.MoERunner != "" {
		s.MoERunner = m.MoERunner
	}
	if s.KVDtype == "" || s.KVDtype == "auto" || s.KVDtype == "bf16" {
		s.KVDtype = "bfloat16"
	}
	if s.PP > 1 {
		s.NoOverlap = true // sglang switches it off with pipeline parallelism
	}
	s.Spec = s.Spec.resolved()
	if s.Conservativeness == 0 {
		s.Conservativeness = 1
	}
	if s.DPAttention { // as sglang does with attention replicas
		s.Conservativeness *= 0.3
		if s.ChunkedPrefill > 0 {
			s.ChunkedPrefill /= s.DP
		}
	}
	if s.Noise == 0 {
		s.Noise = 1
	}
	return s
}
