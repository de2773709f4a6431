package sim

import (
	"fmt"
	"math"
	"time"

	"sweep/internal/sglang"
)

// Model is a preset: one model on one kind of GPU, as data. Sizes are GB as
// sglang logs them.
type Model struct {
	Name        string // the preset's name
	ModelType   string // as config.json has it
	Arch        string // class that sglang loads
	Vocab       int    // token ids are below this
	Context     int    // tokens
	PageSize    int    // KV pool granularity, tokens
	Thinks      bool   // reasons before it answers a chat, unless told not to
	MoE         bool   // has experts, so the MoE backend matters
	KVSplit     bool   // KV heads are split among tensor ranks; a latent (MLA) cache is not
	Attention   string // attention backend chosen when none is asked for
	MoERunner   string // what the MoE backend "auto" stands for; "" leaves it
	Shards      int    // checkpoint files
	GPUGB       float64
	WeightsGB   float64 // over all GPUs
	KVGBPer     float64 // per token, on each GPU when not split, at two bytes an element
	MemFraction float64 // mem_fraction_static when none is asked for
	Chunk       int     // chunked_prefill_size when none is asked for, tokens
	GraphMaxBS  int     // cuda_graph_max_bs when none is asked for

	RefTP       int     // tensor ranks at which the curves were taken
	TPExponent  float64 // step time goes with (RefTP/TP)^this
	Eager       Curve   // decode steps without CUDA graphs
	Graphs      Curve   // decode steps with CUDA graphs
	PrefillBase time.Duration
	PrefillRate float64 // input tokens a second beyond PrefillBase

	Startup []Stage // natural durations
}

// Stage is one phase of the start and how long it naturally takes.
type Stage struct {
	Name sglang.PhaseName
	Time time.Duration

	Draft bool // of the draft model of speculative decoding
}

// Preset returns the model of that name: glm5, small or fixed.
func Preset(name string) (Model, error) {
	switch name {
	case "glm5":
		return glm5(), nil
	case "small":
		return small(), nil
	case "fixed":
		return fixed(), nil
	}
	return Model{}, fmt.Errorf("invalid choice: '%s' (choose from 'glm5', 'small', 'fixed')", name)
}

// glm5 is GLM-5-NVFP4 on 8 RTX PRO 6000 (96 GB, PCIe). The curves reproduce
// what was measured on such a machine at TP8: with graphs off 128/128 tokens at
// 1 to 2,048 requests, with graphs on the decode rates published for 1 to 64
// streams, about 4,000 input tok/s, a KV pool of 314,304 tokens at 0.92, weights
// of 57.06 GB a GPU in 36 s and 208 s of graph capture within about 7 minutes.
// Invented: how the rest of those minutes is spread, and that 0.92 is the
// default (sglang's own heuristic gives about 0.83 here).
func glm5() Model {
	return Model{
		Name: "glm5", ModelType: "glm_moe_dsa", Arch: "GlmMoeDsaForCausalLM",
		Vocab: 154880, Context: 202752, PageSize: 64, MoE: true, Thinks: true,
		Attention: "flashinfer", MoERunner: "flashinfer_cutlass",
		Shards: 47, GPUGB: 94.05, WeightsGB: 57.06 * 8,
		KVGBPer:     (94.05*0.92 - 57.06) / 314304,
		MemFraction: 0.92, Chunk: 8192, GraphMaxBS: 512,
		RefTP: 8, TPExponent: 1, // TP4+PP2 was measured at half of TP8
		Eager: Curve{
			{1, ms(97.02)}, {256, ms(298)}, {512, ms(330)}, {1024, ms(371)},
		},
		Graphs: Curve{
			{1, ms(20)}, {8, ms(28.88)}, {32, ms(48.5)}, {64, ms(63.3)},
		},
		PrefillBase: 124 * time.Millisecond, PrefillRate: 4000,
		Startup: stages(45, 30, 36, 16, 45, 208, 10, 75),
	}
}

// small is an imaginary dense 8B model on one 80 GB GPU, all of it invented:
// fast enough that a demo ends while somebody watches.
func small() Model {
	return Model{
		Name: "small", ModelType: "llama", Arch: "LlamaForCausalLM",
		Vocab: 128256, Context: 131072, PageSize: 1, KVSplit: true,
		Attention: "flashinfer",
		Shards:    4, GPUGB: 78.5, WeightsGB: 15.0, KVGBPer: 131072.0 / (1 << 30),
		MemFraction: 0.88, Chunk: 8192, GraphMaxBS: 256,
		RefTP: 1, TPExponent: 0.86, // TP2 takes 0.55 of the time
		Eager: Curve{
			{1, ms(14)}, {16, ms(20)}, {64, ms(34)}, {256, ms(66)},
		},
		Graphs: Curve{
			{1, ms(6)}, {4, ms(7.5)}, {16, ms(12.5)}, {64, ms(25)}, {256, ms(58)},
		},
		PrefillBase: 8 * time.Millisecond, PrefillRate: 40000,
		Startup: stages(5, 1, 6, 1, 3, 4, 1, 2),
	}
}

// fixed is for checking clients: every prefill takes 150 ms and every decode
// step 20 ms, whatever the batch. All of it is invented.
func fixed() Model {
	m := small()
	m.Name = "fixed"
	m.Eager, m.Graphs = Curve{{1, ms(20)}, {4096, ms(20)}}, Curve{{1, ms(20)}, {4096, ms(20)}}
	m.PrefillBase, m.PrefillRate = 150*time.Millisecond, math.Inf(1)
	return m
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// stages lists the phases in the order sglang goes through them.
func stages(process, init, weights, kv, autotune, graphs, http, warmup float64) []Stage {
	s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return []Stage{
		{Name: sglang.PhaseProcess, Time: s(process)},
		{Name: sglang.PhaseInit, Time: s(init)},
		{Name: sglang.PhaseWeights, Time: s(weights)},
		{Name: sglang.PhaseKV, Time: s(kv)},
		{Name: sglang.PhaseAutotune, Time: s(autotune)},
		{Name: sglang.PhaseGraphs, Time: s(graphs)},
		{Name: sglang.PhaseHTTP, Time: s(http)},
		{Name: sglang.PhaseWarmup, Time: s(warmup)},
	}
}
