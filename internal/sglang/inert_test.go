package sglang

import (
	"strings"
	"testing"
)

func TestInert(t *testing.T) {
	const cutlass = "tp-size 8 moe-runner-backend flashinfer_cutlass "
	for name, c := range map[string]struct {
		version, a, b string
		why           string // empty: not inert
	}{
		"autotune, cutlass":            {"0.5.10.post1", cutlass, cutlass + "disable-flashinfer-autotune", "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"},
		"autotune, cutlass, 0.5.12":    {"0.5.12.post1", cutlass, cutlass + "disable-flashinfer-autotune", "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"},
		"autotune, cutlass, 0.5.8":     {"0.5.8.post1", cutlass, cutlass + "disable-flashinfer-autotune", "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"},
		"autotune, cutlass, 0.5.17":    {"0.5.17", cutlass, cutlass + "disable-flashinfer-autotune", ""},
		"autotune, cutlass, 0.5.14":    {"0.5.14", cutlass, cutlass + "disable-flashinfer-autotune", ""},
		"autotune, cutlass, 0.5.6":     {"0.5.6.post2", cutlass, cutlass + "enable-flashinfer-autotune", ""},
		"autotune, trtllm":             {"0.5.10.post1", "moe-runner-backend flashinfer_trtllm", "moe-runner-backend flashinfer_trtllm disable-flashinfer-autotune", ""},
		"autotune, auto":               {"0.5.10.post1", "tp-size 8", "tp-size 8 disable-flashinfer-autotune", ""},
		"autotune, cutedsl, 0.5.10":    {"0.5.10.post1", "moe-runner-backend flashinfer_cutedsl", "moe-runner-backend flashinfer_cutedsl disable-flashinfer-autotune", "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"},
		"autotune, cutedsl, 0.5.12":    {"0.5.12.post1", "moe-runner-backend flashinfer_cutedsl", "moe-runner-backend flashinfer_cutedsl disable-flashinfer-autotune", ""},
		"autotune, triton, 0.5.17":     {"0.5.17", "moe-runner-backend triton fp4-gemm-backend flashinfer_cudnn", "moe-runner-backend triton fp4-gemm-backend flashinfer_cudnn disable-flashinfer-autotune", "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"},
		"autotune, triton and gemm":    {"0.5.17", "moe-runner-backend triton", "moe-runner-backend triton disable-flashinfer-autotune", ""},
		"skip-ops, autotune off":       {"0.5.17", "disable-flashinfer-autotune", "disable-flashinfer-autotune flashinfer-autotune-skip-ops a", "flashinfer-autotune-skip-ops does nothing: autotune is disabled"},
		"graph sizes, graphs off":      {"0.5.10.post1", "disable-cuda-graph cuda-graph-max-bs 8", "disable-cuda-graph cuda-graph-max-bs 256", "cuda-graph-max-bs does nothing: CUDA graphs of decoding are disabled"},
		"graph list, graphs off":       {"0.5.10.post1", "disable-cuda-graph", "disable-cuda-graph cuda-graph-bs 1 2", "cuda-graph-bs does nothing: CUDA graphs of decoding are disabled"},
		"graph sizes, graphs on":       {"0.5.10.post1", "cuda-graph-max-bs 8", "cuda-graph-max-bs 256", ""},
		"graphs off or on":             {"0.5.10.post1", "disable-cuda-graph", "cuda-graph-max-bs 256", ""},
		"decode graphs off, 0.5.17":    {"0.5.17", "cuda-graph-backend-decode disabled cuda-graph-max-bs-decode 8", "cuda-graph-backend-decode disabled", "cuda-graph-max-bs-decode does nothing: CUDA graphs of decoding are disabled"},
		"prefill graphs off, 0.5.17":   {"0.5.17", "cuda-graph-backend-prefill disabled cuda-graph-max-bs-prefill 8", "cuda-graph-backend-prefill disabled", "cuda-graph-max-bs-prefill does nothing: CUDA graphs of prefill are disabled"},
		"prefill sizes, decode off":    {"0.5.17", "disable-decode-cuda-graph cuda-graph-max-bs-prefill 8", "disable-decode-cuda-graph", ""},
		"off and a backend":            {"0.5.17", "disable-cuda-graph cuda-graph-backend-decode full cuda-graph-max-bs-decode 8", "disable-cuda-graph cuda-graph-backend-decode full", ""},
		"off and a config":             {"0.5.17", "disable-cuda-graph cuda-graph-config {} cuda-graph-max-bs-decode 8", "disable-cuda-graph cuda-graph-config {}", ""},
		"piecewise off":                {"0.5.10.post1", "disable-piecewise-cuda-graph piecewise-cuda-graph-max-tokens 8", "disable-piecewise-cuda-graph", "piecewise-cuda-graph-max-tokens does nothing: piecewise CUDA graphs are disabled"},
		"micro batches, one stage":     {"0.5.10.post1", "tp-size 8", "tp-size 8 pp-max-micro-batch-size 4 SGLANG_PP_LAYER_PARTITION=39,39", "pp-max-micro-batch-size does nothing: there is one pipeline stage; SGLANG_PP_LAYER_PARTITION does nothing: there is one pipeline stage"},
		"micro batches, two stages":    {"0.5.10.post1", "pp-size 2", "pp-size 2 pp-max-micro-batch-size 4", ""},
		"overlap, two stages":          {"0.5.10.post1", "pp-size 2", "pp-size 2 disable-overlap-schedule", "disable-overlap-schedule does nothing: pipeline stages turn the overlap schedule off anyway"},
		"overlap, one stage":           {"0.5.10.post1", "tp-size 2", "tp-size 2 disable-overlap-schedule", ""},
		"steps without speculation":    {"0.5.10.post1", "tp-size 2", "tp-size 2 speculative-num-steps 3 SGLANG_ENABLE_SPEC_V2=True", "speculative-num-steps does nothing: there is no speculative-algorithm; SGLANG_ENABLE_SPEC_V2 does nothing: there is no speculative-algorithm"},
		"spec v2, gone":                {"0.5.14", "speculative-algorithm EAGLE", "speculative-algorithm EAGLE SGLANG_ENABLE_SPEC_V2=True", "SGLANG_ENABLE_SPEC_V2 does nothing: this version does not read it any more"},
		"spec v2":                      {"0.5.10.post1", "speculative-algorithm EAGLE", "speculative-algorithm EAGLE SGLANG_ENABLE_SPEC_V2=True", ""},
		"draft tokens, one candidate":  {"0.5.10.post1", "speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 1 speculative-num-draft-tokens 4", "speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 1 speculative-num-draft-tokens 8", "speculative-num-draft-tokens does nothing: with speculative-eagle-topk 1 it follows from speculative-num-steps"},
		"draft tokens":                 {"0.5.10.post1", "speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 2 speculative-num-draft-tokens 4", "speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 2 speculative-num-draft-tokens 8", ""},
		"page size of the model":       {"0.5.10.post1", "model-path zai-org/GLM-5 page-size 16", "model-path zai-org/GLM-5", "page-size does nothing: sglang sets 64 for this model"},
		"page size":                    {"0.5.10.post1", "model-path m page-size 16", "model-path m", ""},
		"A16 sparse backend, dense":    {"0.5.10.post1", "attention-backend flashinfer nsa-decode-backend fa3", "attention-backend flashinfer", "nsa-decode-backend does nothing: the attention backend is not the sparse one that they belong to"},
		"A16 sparse backend, sparse":   {"0.5.10.post1", "attention-backend nsa nsa-decode-backend fa3", "attention-backend nsa", ""},
		"sparse backend, auto":         {"0.5.10.post1", "model-path zai-org/GLM-5 nsa-decode-backend fa3", "model-path zai-org/GLM-5", ""},
		"attention of each phase":      {"0.5.10.post1", "prefill-attention-backend fa3 decode-attention-backend fa3 attention-backend triton", "prefill-attention-backend fa3 decode-attention-backend fa3", "attention-backend does nothing: prefill and decode each have a backend of their own"},
		"NCCL, one GPU":                {"0.5.10.post1", "model-path m", "model-path m NCCL_P2P_DISABLE=1 disable-custom-all-reduce", "disable-custom-all-reduce does nothing: one GPU has nobody to reduce with; NCCL_P2P_DISABLE does nothing: one GPU talks to nobody"},
		"NCCL, more":                   {"0.5.10.post1", "tp-size 8", "tp-size 8 NCCL_P2P_DISABLE=1", ""},
		"a default":                    {"0.5.10.post1", "tp-size 8", "tp-size 8 pp-size 1", "pp-size at 1 is at its default"},
		"a default, spelled otherwise": {"0.5.10.post1", "model-path m schedule-conservativeness 1", "model-path m", "schedule-conservativeness at 1 is at its default"},
		"one value, two spellings":     {"0.5.10.post1", "mem-fraction-static 0.85", "mem-fraction-static .850", "the values are equal"},
		"a default elsewhere":          {"0.5.11", "tp-size 8", "tp-size 8 pp-size 1", ""},
		"unknown version":              {"", cutlass, cutlass + "disable-flashinfer-autotune", ""},
		"unset or inherited":           {"0.5.10.post1", "tp-size 8", "tp-size 8 NCCL_P2P_LEVEL=" + Unset, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fs, a := settingsOf(t, c.version, c.a)
			_, b := settingsOf(t, c.version, c.b)
			for _, pair := range [][2]Settings{{a, b}, {b, a}} {
				why, inert := fs.Inert(pair[0], pair[1], fs.Release())
				if inert != (c.why != "") || !sameParts(why, c.why) {
					t.Errorf("inert %t: %s\nwant %s", inert, why, c.why)
				}
			}
			if len(a.Flags) > 0 && len(strings.Fields(c.a)) > 0 {
				if _, inert := fs.Inert(a, a, fs.Release()); !inert {
					t.Error("not equal to itself")
				}
			}
		})
	}
}

// sameParts compares reasons in any order.
func sameParts(a, b string) bool {
	count := map[string]int{}
	for _, part := range strings.Split(a, "; ") {
		count[part]++
	}
	for _, part := range strings.Split(b, "; ") {
		count[part]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestEffectiveLeavesItsInputAlone: what is left out is left out of a copy.
func TestEffectiveLeavesItsInputAlone(t *testing.T) {
	fs, s := settingsOf(t, "0.5.10.post1", "disable-cuda-graph cuda-graph-max-bs 8 SGLANG_ENABLE_SPEC_V2=1")
	effective, noughts := fs.Effective(s, "0.5.10.post1")
	if len(noughts) != 2 || len(effective.Flags) != 1 || len(effective.Env) != 0 || len(s.Flags) != 2 || len(s.Env) != 1 {
		t.Errorf("%v %v %v", effective, noughts, s)
	}
	if _, none := fs.Effective(Settings{}, ""); none != nil {
		t.Error(none)
	}
}
