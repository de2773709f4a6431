package sglang

import (
	"fmt"
	"strings"
)

// Known is what is known of the host and the model before a start. Zero is not
// known, and then nothing is said about it.
type Known struct {
	GPUs          int // that the server may use
	SM            int // compute capability times ten: 120 for RTX PRO 6000
	KVTokens      int // that the KV pool holds, from an earlier start of the same configuration
	RequestTokens int // of one request at its end, prompt and output
}

// sparsePage is the page size that sglang sets for models with sparse attention
// on CUDA, whatever was asked.
const sparsePage = 64

// Combine judges flags that are sound one by one and are not together. The
// rules are those of sglang's ServerArgs, which checks most of them only once
// the server starts, on a GPU and with the model at hand. version is of sglang;
// empty when it is not known.
func Combine(s Settings, known Known, version string) []FlagProblem {
	c := combination{Settings: s, known: known, version: version}
	c.gpus()
	c.pipeline()
	c.data()
	c.experts()
	c.prefill()
	c.speculation()
	c.pool()
	c.sparseModel()
	return c.problems
}

type combination struct {
	Settings
	known    Known
	version  string
	problems []FlagProblem
}

func (c *combination) say(code string, grade Grade, flag, hint, format string, args ...any) {
	c.problems = append(c.problems, FlagProblem{Code: code, Grade: grade, Index: -1, Flag: flag, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// gpus compares what is taken with what is there. sglang itself does not: the
// last ranks die of an invalid device ordinal.
func (c *combination) gpus() {
	there := int64(c.known.GPUs)
	if devices, set := c.Env["CUDA_VISIBLE_DEVICES"]; set && devices != Unset && strings.TrimSpace(devices) != "" {
		if n := int64(len(strings.Split(devices, ","))); there == 0 || n < there {
			there = n
		}
	}
	nodes := c.size("nnodes")
	if there <= 0 || c.word("device", "cuda") != "cuda" {
		return
	}
	world := c.world()
	first, step := max(c.number("base-gpu-id", 0), 0), c.size("gpu-id-step")
	last := first + ((world+nodes-1)/nodes-1)*step // the highest GPU on one host
	factors, flag := c.factors()
	switch {
	case last >= there && first == 0 && step == 1:
		c.say(FlagCombined, GradeError, flag, "lower one of them", "%s = %d GPUs, but there are %d", factors, world, there*nodes)
	case last >= there:
		c.say(FlagCombined, GradeError, flag, "lower base-gpu-id, gpu-id-step or one of the sizes", "%s from GPU %d on needs GPU %d, but there are %d", factors, first, last, there)
	case world < there*nodes && nodes == 1:
		c.say(FlagCombined, GradeWarning, flag, "", "%s = %d of %d GPUs: the others stay idle", factors, world, there)
	}
}

// factors writes the sizes that make up the world, and names the flag to point
// at: the last one that is given.
func (c *combination) factors() (text, flag string) {
	text, flag = fmt.Sprintf("tp-size %d × pp-size %d", c.size("tp-size"), c.size("pp-size")), "tp-size"
	if c.size("pp-size") == 1 {
		text = fmt.Sprintf("tp-size %d", c.size("tp-size"))
	} else if c.has("pp-size") {
		flag = "pp-size"
	}
	if !c.has("enable-dp-attention") && c.size("dp-size") > 1 {
		text, flag = text+fmt.Sprintf(" × dp-size %d", c.size("dp-size")), "dp-size"
	}
	return text, flag
}

func (c *combination) pipeline() {
	if c.size("pp-size") == 1 {
		return
	}
	if algorithm := c.word("speculative-algorithm", ""); algorithm != "" {
		c.say(FlagCombined, GradeError, "pp-size", "exclude the combination", "speculative decoding (%s) does not work with pp-size %d", shown(algorithm), c.size("pp-size"))
	}
	if c.has("enable-mixed-chunk") {
		if versionIn(c.version, "", "0.5.10") {
			c.say(FlagCombined, GradeError, "enable-mixed-chunk", "exclude the combination", "enable-mixed-chunk does not work with pp-size %d", c.size("pp-size"))
		} else {
			c.say(FlagCombined, GradeWarning, "enable-mixed-chunk", "", "enable-mixed-chunk with pp-size %d is refused up to sglang 0.5.10", c.size("pp-size"))
		}
	}
	if !c.has("disable-overlap-schedule") {
		c.say(FlagRewritten, GradeNote, "pp-size", "", "with pp-size %d sglang turns the overlap schedule off", c.size("pp-size"))
	}
}

func (c *combination) data() {
	tp, dp := c.size("tp-size"), c.size("dp-size")
	if c.has("enable-dp-attention") && tp%dp != 0 {
		c.say(FlagCombined, GradeError, "dp-size", "with enable-dp-attention dp-size divides tp-size", "tp-size %d is not a multiple of dp-size %d", tp, dp)
	}
}

func (c *combination) experts() {
	tp, ep := c.size("tp-size"), c.size("ep-size")
	if tp%ep != 0 {
		c.say(FlagCombined, GradeError, "ep-size", "ep-size divides tp-size", "tp-size %d is not a multiple of ep-size %d", tp, ep)
		return
	}
	backend := c.word("moe-runner-backend", "auto")
	if backend == "auto" && c.known.SM == 120 && c.word("quantization", "") == "modelopt_fp4" && versionIn(c.version, "0.5.17", "0.5.17") {
		backend = "flashinfer_cutlass"
	}
	if backend == "flashinfer_cutlass" && ep != 1 && ep != tp {
		c.say(FlagCombined, GradeError, "ep-size", fmt.Sprintf("write ep-size: 1 or ep-size: %d", tp), "with moe-runner-backend flashinfer_cutlass ep-size is 1 or tp-size (%d), not %d", tp, ep)
	}
}

// prefill checks that chunks are whole pages. Data-parallel attention divides
// the chunk among its ranks first.
func (c *combination) prefill() {
	chunk, page := c.number("chunked-prefill-size", 0), c.size("page-size")
	by := ""
	if c.sparse() {
		page, by = sparsePage, ", which sglang sets for this model"
	}
	if chunk <= 0 { // -1 turns chunks off
		return
	}
	each, among := chunk, ""
	if dp := c.size("dp-size"); c.has("enable-dp-attention") && dp > 1 {
		each, among = chunk/dp, fmt.Sprintf(" (%d for each of %d data-parallel ranks)", chunk/dp, dp)
	}
	if each%page != 0 {
		c.say(FlagCombined, GradeError, "chunked-prefill-size", fmt.Sprintf("write a multiple of %d, such as %d", page, max(page, each/page*page)*(chunk/max(each, 1))),
			"chunked-prefill-size %d%s is not a multiple of the page size %d%s", chunk, among, page, by)
	}
}

// pool compares the requests that may run at once with what the KV pool holds.
// More than fit are taken back and computed again.
func (c *combination) pool() {
	tokens := int64(c.known.KVTokens)
	if limit := c.number("max-total-tokens", 0); limit > 0 && (tokens == 0 || limit < tokens) {
		tokens = limit
	}
	most := c.number("max-running-requests", 0)
	each := int64(c.known.RequestTokens)
	if tokens <= 0 || most <= 0 || each <= 0 || most <= tokens/each {
		return
	}
	c.say(FlagCombined, GradeWarning, "max-running-requests", "more than fit wait, or are taken back and computed again",
		"max-running-requests %d, but the KV pool of %d tokens holds %d requests of %d tokens", most, tokens, tokens/each, each)
}
