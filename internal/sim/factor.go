package sim

import "math"

// factor is one reason for a server to be slower or faster than its preset's
// curves.
type factor struct {
	applies         bool
	decode, prefill float64 // on times: above 1 is slower
}

// factors multiplies what the setup changes against the preset's measured
// configuration. Only the tensor parallel width of glm5 rests on a measurement
// (TP4+PP2 half as fast as TP8, so speed goes with the tensor width and
// pipeline stages add memory only). Every other number here is invented: its
// direction is what the flag is known to do, its size is a plausible one.
//
// Inert on purpose, as on the real machine: disable-flashinfer-autotune with
// flashinfer_cutlass (sglang 0.5.7 to 0.5.12 tune for the trtllm and mxfp4
// backends only), disable-custom-all-reduce (never used by more than two PCIe
// GPUs), disable-overlap-schedule with pipeline parallelism (already off).
func factors(m Model, s Setup, d dialect) (decode, prefill float64) {
	width := math.Pow(float64(m.RefTP)/float64(s.TP), m.TPExponent)
	decode, prefill = width*s.Noise, width*s.Noise
	for _, f := range []factor{
		{s.NoP2P && s.TP*s.PP > 1, 1.08, 1.08},                                        // collectives through host memory
		{m.MoE && s.MoERunner == "triton", 1.15, 1.25},                                // generic expert kernels
		{m.MoE && d.tunable(s) && !d.tunes(s), 1.03, 1.05},                            // untuned kernels
		{s.Attention == "triton", 1.06, 1.10},                                         // generic attention kernels
		{s.NoOverlap && s.PP == 1, 1.05, 1.02},                                        // CPU scheduling no longer hidden
		{is8bit(s.KVDtype), 0.98, 1},                                                  // half the KV to read
		{!m.MoE && (s.Quant == "fp8" || s.Quant == "w8a8_fp8"), quantStep, quantStep}, // half the weights to read
	} {
		if f.applies {
			decode *= f.decode
			prefill *= f.prefill
		}
	}
	return decode, prefill
}

// quantStep is how long a step takes with 8-bit weights (invented).
const quantStep = 0.7

// tunable says whether FlashInfer's autotune would run at start, were it not
// switched off.
func (d dialect) tunable(s Setup) bool {
	s.NoAutotune, s.Autotune = false, true
	return d.tunes(s)
}

func is8bit(dtype string) bool { return dtype == "fp8_e4m3" || dtype == "fp8_e5m2" }
