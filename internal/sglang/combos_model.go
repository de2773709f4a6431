package sglang

import (
	"fmt"
	"slices"
	"strings"
)

// speculativeNumbers are given all or none: with none sglang chooses.
var speculativeNumbers = [...]string{"speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens"}

// speculativeRequests is max-running-requests with speculative decoding, when
// it is not given.
const speculativeRequests = 48

func (c *combination) speculation() {
	algorithm := c.word("speculative-algorithm", "")
	if algorithm == "" {
		return
	}
	if slices.Contains([]string{"EAGLE", "EAGLE3", "NEXTN", "STANDALONE"}, strings.ToUpper(algorithm)) {
		var given, missing []string
		for _, name := range speculativeNumbers {
			if c.has(name) {
				given = append(given, name)
			} else {
				missing = append(missing, name)
			}
		}
		if len(given) > 0 && len(missing) > 0 {
			c.say(FlagCombined, GradeError, given[0], "give all three numbers, or none and let sglang choose", "%s is given without %s", strings.Join(given, " and "), strings.Join(missing, " and "))
		}
		steps, drafts := c.number("speculative-num-steps", 0), c.number("speculative-num-draft-tokens", 0)
		if len(missing) == 0 && c.number("speculative-eagle-topk", 0) == 1 && drafts != steps+1 {
			c.say(FlagRewritten, GradeNote, "speculative-num-draft-tokens", "", "with speculative-eagle-topk 1 sglang makes speculative-num-draft-tokens %d, not %d", steps+1, drafts)
		}
	}
	model := c.word("model-path", "")
	if !c.has("speculative-draft-model-path") && slices.Contains([]string{"EAGLE", "NEXTN"}, strings.ToUpper(algorithm)) && strings.EqualFold(model, "lukealonso/GLM-5-NVFP4") {
		c.say(FlagCombined, GradeWarning, "speculative-algorithm", "take a checkpoint with MTP layers, or name one by speculative-draft-model-path", "%s is said to hold no MTP weights to speculate with", shown(model))
	}
	if !c.has("max-running-requests") {
		c.say(FlagRewritten, GradeNote, "speculative-algorithm", "", "with speculative decoding max-running-requests is %d unless given", speculativeRequests)
	}
}

// sparseModel says what sglang rewrites for GLM-5 and other models with sparse
// attention.
func (c *combination) sparseModel() {
	fp4 := c.word("fp4-gemm-backend", "auto")
	if fp4 == "flashinfer_cutlass" && c.known.SM == 120 && versionIn(c.version, "0.5.8", "0.5.10") {
		c.say(FlagCombined, GradeWarning, "fp4-gemm-backend", "write flashinfer_cudnn (sglang issue 20043)", "fp4-gemm-backend flashinfer_cutlass is known to produce NaN on this GPU")
	}
	if !c.sparse() {
		return
	}
	if page := c.size("page-size"); c.has("page-size") && page != sparsePage {
		c.say(FlagRewritten, GradeNote, "page-size", "", "sglang sets page-size %d for this model, not %d", sparsePage, page)
	}
	kv := c.word("kv-cache-dtype", "auto")
	flag := "model-path"
	if c.has("kv-cache-dtype") {
		flag = "kv-cache-dtype"
	}
	switch kv {
	case "bf16", "bfloat16":
	case "auto", "fp8_e4m3":
		if kv == "auto" && (c.known.SM == 0 || c.known.SM >= 100) {
			on := ""
			if c.known.SM == 0 {
				on = " on Blackwell GPUs"
			}
			c.say(FlagRewritten, GradeNote, flag, "", "sglang makes kv-cache-dtype auto fp8_e4m3 for this model%s", on)
		}
		if c.word("attention-backend", "") == "flashinfer" && (c.known.SM == 0 || c.known.SM == 120) {
			c.say(FlagCombined, GradeWarning, flag, "write kv-cache-dtype: bf16", "an 8-bit KV cache with attention-backend flashinfer is reported to give garbage for this model on SM120")
		}
	default:
		c.say(FlagCombined, GradeError, flag, "write bf16 or fp8_e4m3", "kv-cache-dtype %s does not work with sparse attention", fmt.Sprintf("%q", shown(kv)))
	}
}
