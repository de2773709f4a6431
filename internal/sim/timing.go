package sim

import (
	"math"
	"slices"
	"time"

	"sweep/internal/sglang"
)

// Timing answers how long everything takes in one server: a preset under a
// setup. It is a value without clock or state; the same setup gives the same
// answers.
type Timing struct {
	model           Model
	setup           Setup // resolved
	dialect         dialect
	decode, prefill float64
	kv              int
	capture         []int
}

// NewTiming resolves a setup against a preset.
func NewTiming(m Model, s Setup) Timing {
	d, err := parseVersion(s.Version)
	if err != nil {
		d, _ = parseVersion(defaultVersion) // it is in the list
	}
	t := Timing{model: m, setup: s.resolved(m), dialect: d}
	t.decode, t.prefill = factors(m, t.setup, d)
	t.kv = t.kvTokens()
	t.capture = t.captureSizes()
	return t
}

// StepTime is how long one decode step takes for a batch of running requests:
// on the graph curve up to the largest captured batch, on the eager one above.
// Data parallel replicas share the batch evenly.
func (t Timing) StepTime(batch int) time.Duration {
	curve := t.model.Eager
	each := (batch + t.setup.DP - 1) / t.setup.DP
	if each <= t.Captured() {
		curve = t.model.Graphs
	}
	return scaled(curve.At(each), t.decode*t.specCost(each))
}

// PrefillTime is how long one prefill batch of so many new tokens takes; the
// first token of every prompt that it completes comes out of it.
func (t Timing) PrefillTime(tokens int) time.Duration {
	each := float64(tokens) / float64(t.setup.DP)
	d := t.model.PrefillBase + time.Duration(each/t.model.PrefillRate*float64(time.Second))
	return scaled(d, t.prefill)
}

// KVTokens is the size of the KV pool in tokens; 0 when the weights leave no
// room for one.
func (t Timing) KVTokens() int { return t.kv }

// Captured is the largest batch with a CUDA graph, 0 when graphs are off.
func (t Timing) Captured() int {
	if len(t.capture) == 0 {
		return 0
	}
	return t.capture[len(t.capture)-1]
}

// MaxRunning is how many requests may run at once: what was asked for, at most
// 4,096, or sglang's own rule, 512 contexts' worth of the pool between 2,048
// and 4,096; 48 with speculative decoding; per data parallel replica.
func (t Timing) MaxRunning() int {
	n := t.setup.MaxRunning
	switch {
	case n <= 0 && t.setup.Spec.on():
		n = 48
	case n <= 0:
		n = max(int(float64(t.kv)/float64(t.setup.Context)*512), 2048)
	}
	return min(n, 4096) * t.setup.DP
}

// PrefillBudget is how many new tokens one prefill batch may hold, and whether
// a prompt may be cut to fit (chunked prefill).
func (t Timing) PrefillBudget() (tokens int, chunked bool) {
	if c := t.setup.ChunkedPrefill; c > 0 {
		return min(c, t.setup.MaxPrefill) * t.setup.DP, true
	}
	return t.setup.MaxPrefill * t.setup.DP, false
}

// Startup lists the phases that this server goes through, with their natural
// durations. Capture is taken to last as long for few graphs as for many. A
// draft model is loaded after the model and goes through weights, pool and
// graphs once more, in the shares of the time that draftTime says.
func (t Timing) Startup() []Stage {
	list := slices.DeleteFunc(slices.Clone(t.model.Startup), func(s Stage) bool {
		return s.Name == sglang.PhaseGraphs && t.Captured() == 0 ||
			s.Name == sglang.PhaseAutotune && !t.dialect.tunes(t.setup)
	})
	if !t.setup.Spec.draftModel() {
		return list
	}
	var draft []Stage
	for _, s := range list {
		if part := draftTime[s.Name]; part > 0 {
			draft = append(draft, Stage{Name: s.Name, Time: time.Duration(part * float64(s.Time)), Draft: true})
		}
	}
	at := slices.IndexFunc(list, func(s Stage) bool { return s.Name == sglang.PhaseHTTP })
	return slices.Insert(list, at, draft...)
}

// draftTime is what a draft model's phases take of the model's (invented).
var draftTime = map[sglang.PhaseName]float64{sglang.PhaseWeights: 0.1, sglang.PhaseKV: 0.2, sglang.PhaseGraphs: 0.3}

// weightsGB is what the weights take on each GPU.
func (t Timing) weightsGB() float64 {
	w := t.model.WeightsGB / float64(t.setup.TP*t.setup.PP)
	if !t.model.MoE && is8bitQuant(t.setup.Quant) {
		w /= 2
	}
	return w
}

func is8bitQuant(q string) bool { return q == "fp8" || q == "w8a8_fp8" || q == "w8a8_int8" }

// kvGB is what the KV pool may take on each GPU: sglang's mem_fraction_static
// is the share of a GPU for weights and pool together.
func (t Timing) kvGB() float64 { return t.model.GPUGB*t.setup.MemFraction - t.weightsGB() }

// kvTokens sizes the pool. It does not grow with pipeline stages, although each
// then holds only its own layers: a simplification that keeps TP4+PP2 at half
// of TP8 on every load.
func (t Timing) kvTokens() int {
	per := t.model.KVGBPer
	if t.model.KVSplit {
		per /= float64(t.setup.TP)
	}
	if is8bit(t.setup.KVDtype) {
		per /= 2
	}
	page := float64(t.setup.PageSize)
	// The nudge keeps a pool that is exactly n pages from losing one to rounding.
	tokens := max(int(math.Floor(t.kvGB()/per/page+1e-6)), 0) * t.setup.PageSize
	if limit := t.setup.MaxTotalTokens; limit > 0 {
		tokens = min(tokens, limit/t.setup.PageSize*t.setup.PageSize)
	}
	return tokens * t.setup.DP
}

// captureSizes lists the batches to capture, rising. sglang 0.5.10: 1, 2, 4, 8,
// 12, by 8 from 16 to 256, by 16 up to 512, never above the running cap.
func (t Timing) captureSizes() []int {
	if t.setup.GraphsOff {
		return nil
	}
	sizes := slices.Clone(t.setup.GraphBS)
	if len(sizes) == 0 {
		sizes = []int{1, 2, 4, 8, 12}
		for b := 16; b <= 256; b += 8 {
			sizes = append(sizes, b)
		}
		for b := 272; b <= t.setup.GraphMaxBS; b += 16 {
			sizes = append(sizes, b)
		}
		sizes = slices.DeleteFunc(sizes, func(b int) bool { return b > t.setup.GraphMaxBS })
	}
	limit := t.MaxRunning() / t.setup.DP
	sizes = slices.DeleteFunc(sizes, func(b int) bool { return b > limit || b < 1 })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
