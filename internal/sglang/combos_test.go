package sglang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// settingsOf reads flags as a person types them: "tp-size 8 enable-metrics",
// variables as NAME=value.
func settingsOf(t *testing.T, version, text string) (*FlagSet, Settings) {
	t.Helper()
	fs, _ := Flags(version)
	var given []Given
	env := map[string]string{}
	for _, word := range strings.Fields(text) {
		if name, value, isEnv := strings.Cut(word, "="); isEnv {
			env[name] = value
			continue
		}
		if full, _ := fs.Complete(word); full != "" && len(word) > 3 {
			given = append(given, on(word))
			continue
		}
		if len(given) == 0 {
			t.Fatalf("no flag %s in %s", word, version)
		}
		last := &given[len(given)-1]
		last.Kind, last.Words = GivenWord, append(last.Words, word)
	}
	return fs, fs.Settings(given, env)
}

func TestCombine(t *testing.T) {
	box := Known{GPUs: 8, SM: 120}
	const glm = "model-path lukealonso/GLM-5-NVFP4 kv-cache-dtype bf16 attention-backend flashinfer "
	for name, c := range map[string]struct {
		flags   string
		known   Known
		version string
		want    []string
	}{
		"all of them":            {"tp-size 8", box, "0.5.10.post1", nil},
		"unknown host":           {"tp-size 64", Known{}, "0.5.10.post1", nil},
		"too many":               {"tp-size 8 pp-size 2", box, "0.5.10.post1", []string{"error tp-size 8 × pp-size 2 = 16 GPUs, but there are 8 | lower one of them", "note with pp-size 2 sglang turns the overlap schedule off"}},
		"replicas":               {"tp-size 8 dp-size 2", box, "0.5.10.post1", []string{"error tp-size 8 × dp-size 2 = 16 GPUs, but there are 8 | lower one of them"}},
		"replicas inside":        {"tp-size 8 dp-size 2 enable-dp-attention", box, "0.5.10.post1", nil},
		"idle":                   {"tp-size 4", box, "0.5.10.post1", []string{"warning tp-size 4 = 4 of 8 GPUs: the others stay idle"}},
		"fewer visible":          {"tp-size 8 CUDA_VISIBLE_DEVICES=0,1,2,3", box, "0.5.10.post1", []string{"error tp-size 8 = 8 GPUs, but there are 4 | lower one of them"}},
		"visible alone":          {"tp-size 4 CUDA_VISIBLE_DEVICES=0,1,2,3", Known{}, "0.5.10.post1", nil},
		"from GPU 4":             {"tp-size 8 base-gpu-id 4", box, "0.5.10.post1", []string{"error tp-size 8 from GPU 4 on needs GPU 11, but there are 8 | lower base-gpu-id, gpu-id-step or one of the sizes"}},
		"two hosts":              {"tp-size 16 nnodes 2", box, "0.5.10.post1", nil},
		"no GPUs":                {"tp-size 2 device cpu", Known{GPUs: 1}, "0.5.10.post1", nil},
		"unreadable size":        {"tp-size x", Known{GPUs: 1}, "0.5.10.post1", nil},
		"huge":                   {"tp-size 9223372036854775807 pp-size 99999999999999999999 dp-size 9999999999", Known{GPUs: 1}, "0.5.10.post1", nil},
		"speculation and pp":     {"tp-size 4 pp-size 2 speculative-algorithm NGRAM max-running-requests 8 disable-overlap-schedule", box, "0.5.10.post1", []string{"error speculative decoding (NGRAM) does not work with pp-size 2 | exclude the combination"}},
		"mixed chunk and pp":     {"tp-size 4 pp-size 2 enable-mixed-chunk disable-overlap-schedule", box, "0.5.10.post1", []string{"error enable-mixed-chunk does not work with pp-size 2 | exclude the combination"}},
		"mixed chunk later":      {"tp-size 4 pp-size 2 enable-mixed-chunk disable-overlap-schedule", box, "0.5.17", []string{"warning enable-mixed-chunk with pp-size 2 is refused up to sglang 0.5.10"}},
		"tp not by dp":           {"tp-size 8 dp-size 3 enable-dp-attention", box, "0.5.10.post1", []string{"error tp-size 8 is not a multiple of dp-size 3 | with enable-dp-attention dp-size divides tp-size"}},
		"tp not by ep":           {"tp-size 8 ep-size 3", box, "0.5.10.post1", []string{"error tp-size 8 is not a multiple of ep-size 3 | ep-size divides tp-size"}},
		"ep with cutlass":        {"tp-size 8 ep-size 2 moe-runner-backend flashinfer_cutlass", box, "0.5.10.post1", []string{"error with moe-runner-backend flashinfer_cutlass ep-size is 1 or tp-size (8), not 2 | write ep-size: 1 or ep-size: 8"}},
		"ep is tp":               {"tp-size 8 ep-size 8 moe-runner-backend flashinfer_cutlass", box, "0.5.10.post1", nil},
		"ep with auto":           {"tp-size 8 ep-size 2 quantization modelopt_fp4", box, "0.5.17", []string{"error with moe-runner-backend flashinfer_cutlass ep-size is 1 or tp-size (8), not 2 | write ep-size: 1 or ep-size: 8"}},
		"ep with auto elsewhere": {"tp-size 8 ep-size 2 quantization modelopt_fp4", box, "0.5.10.post1", nil},
		"chunk by page":          {"tp-size 8 chunked-prefill-size 1000 page-size 64", box, "0.5.10.post1", []string{"error chunked-prefill-size 1000 is not a multiple of the page size 64 | write a multiple of 64, such as 960"}},
		"chunk of the model":     {glm + "tp-size 8 chunked-prefill-size 1000", box, "0.5.10.post1", []string{"error chunked-prefill-size 1000 is not a multiple of the page size 64, which sglang sets for this model | write a multiple of 64, such as 960"}},
		"chunk off":              {glm + "tp-size 8 chunked-prefill-size -1", box, "0.5.10.post1", nil},
		"chunk of each rank":     {"tp-size 8 dp-size 8 enable-dp-attention chunked-prefill-size 256 page-size 64", box, "0.5.10.post1", []string{"error chunked-prefill-size 256 (32 for each of 8 data-parallel ranks) is not a multiple of the page size 64 | write a multiple of 64, such as 512"}},
		"page of the model":      {glm + "tp-size 8 page-size 16", box, "0.5.10.post1", []string{"note sglang sets page-size 64 for this model, not 16"}},
		"some numbers":           {"tp-size 8 speculative-algorithm EAGLE speculative-num-steps 3 max-running-requests 8", box, "0.5.10.post1", []string{"error speculative-num-steps is given without speculative-eagle-topk and speculative-num-draft-tokens | give all three numbers, or none and let sglang choose"}},
		"all numbers":            {"tp-size 8 speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 4 speculative-num-draft-tokens 16 max-running-requests 8", box, "0.5.10.post1", nil},
		"draft tokens rewritten": {"tp-size 8 speculative-algorithm EAGLE speculative-num-steps 3 speculative-eagle-topk 1 speculative-num-draft-tokens 5", box, "0.5.10.post1", []string{"note with speculative-eagle-topk 1 sglang makes speculative-num-draft-tokens 4, not 5", "note with speculative decoding max-running-requests is 48 unless given"}},
		"no MTP weights":         {glm + "tp-size 8 speculative-algorithm EAGLE max-running-requests 8", box, "0.5.10.post1", []string{"warning lukealonso/GLM-5-NVFP4 is said to hold no MTP weights to speculate with | take a checkpoint with MTP layers, or name one by speculative-draft-model-path"}},
		"pool":                   {"tp-size 8 max-running-requests 2048", Known{GPUs: 8, KVTokens: 314304, RequestTokens: 256}, "0.5.10.post1", []string{"warning max-running-requests 2048, but the KV pool of 314304 tokens holds 1227 requests of 256 tokens | more than fit wait, or are taken back and computed again"}},
		"pool is enough":         {"tp-size 8 max-running-requests 1227", Known{GPUs: 8, KVTokens: 314304, RequestTokens: 256}, "0.5.10.post1", nil},
		"pool is not known":      {"tp-size 8 max-running-requests 99999", box, "0.5.10.post1", nil},
		"pool by flag":           {"tp-size 8 max-running-requests 8 max-total-tokens 1k", Known{GPUs: 8, RequestTokens: 256}, "0.5.10.post1", []string{"warning max-running-requests 8, but the KV pool of 1000 tokens holds 3 requests of 256 tokens | more than fit wait, or are taken back and computed again"}},
		"kv auto":                {"model-path zai-org/GLM-5 tp-size 8", box, "0.5.17", []string{"note sglang makes kv-cache-dtype auto fp8_e4m3 for this model"}},
		"kv auto somewhere":      {"model-path zai-org/GLM-5 tp-size 8 kv-cache-dtype auto", Known{}, "0.5.17", []string{"note sglang makes kv-cache-dtype auto fp8_e4m3 for this model on Blackwell GPUs"}},
		"kv fp8 and flashinfer":  {"model-path zai-org/GLM-5 tp-size 8 kv-cache-dtype fp8_e4m3 attention-backend flashinfer", box, "0.5.10.post1", []string{"warning an 8-bit KV cache with attention-backend flashinfer is reported to give garbage for this model on SM120 | write kv-cache-dtype: bf16"}},
		"kv of another kind":     {"model-path zai-org/GLM-5 tp-size 8 kv-cache-dtype fp8_e5m2", box, "0.5.10.post1", []string{`error kv-cache-dtype "fp8_e5m2" does not work with sparse attention | write bf16 or fp8_e4m3`}},
		"NaN":                    {"tp-size 8 fp4-gemm-backend flashinfer_cutlass", box, "0.5.10.post1", []string{"warning fp4-gemm-backend flashinfer_cutlass is known to produce NaN on this GPU | write flashinfer_cudnn (sglang issue 20043)"}},
		"no NaN later":           {"tp-size 8 fp4-gemm-backend flashinfer_cutlass", box, "0.5.17", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := settingsOf(t, c.version, c.flags)
			var got []string
			for _, p := range Combine(s, c.known, c.version) {
				line := string(p.Grade) + " " + p.Message
				if p.Hint != "" {
					line += " | " + p.Hint
				}
				got = append(got, line)
			}
			if name == "huge" { // what matters is that nothing overflows
				if len(got) == 0 || !strings.HasPrefix(got[0], "error ") {
					t.Error(got)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSettingsReadAsTheServerDoes: aliases, abbreviations, the command's own
// words, the last of several.
func TestSettingsReadAsTheServerDoes(t *testing.T) {
	fs, _ := Flags("0.5.10.post1")
	s := fs.Settings([]Given{
		{Words: []string{"--model", "m", "--tp=2", "--enable-metrics", "stray-free"}},
		word("tensor-parallel-size", "4"), word("tp", "8"), word("cuda-graph-bs", "1", "2"), word("pp", "2"), word("fork-flag", "x"),
	}, map[string]string{"A": "1"})
	want := Settings{Env: map[string]string{"A": "1"}, Flags: map[string][]string{"model-path": {"m"}, "tp-size": {"8"}, "enable-metrics": {"stray-free"},
		"cuda-graph-bs": {"1", "2"}, "fork-flag": {"x"}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
