package sglang

// JudgedBy are the flags, by full name, and the variables that Combine, Missing and
// IdleIn look at. Settings that agree on these are judged alike, whatever else
// they hold, so that a hundred thousand of them need few judgments.
func (fs *FlagSet) JudgedBy() (flags, env []string) {
	flags = []string{
		"attention-backend", "base-gpu-id", "chunked-prefill-size", "config", "cuda-graph-backend-decode", "cuda-graph-backend-prefill",
		"cuda-graph-config", "decode-attention-backend", "device", "disable-cuda-graph", "disable-decode-cuda-graph", "disable-flashinfer-autotune",
		"disable-overlap-schedule", "disable-piecewise-cuda-graph", "disable-prefill-cuda-graph", "dp-size", "enable-dp-attention",
		"enable-mixed-chunk", "ep-size", "fp4-gemm-backend", "gpu-id-step", "kv-cache-dtype", "max-running-requests", "max-total-tokens",
		"model-path", "moe-runner-backend", "nnodes", "page-size", "pp-size", "prefill-attention-backend", "quantization",
		"speculative-algorithm", "speculative-draft-model-path", "tp-size",
	}
	flags = append(flags, speculativeNumbers[:]...)
	for i := range fs.Flags {
		if f := &fs.Flags[i]; f.Required {
			flags = append(flags, f.Name())
		}
	}
	return flags, []string{"CUDA_VISIBLE_DEVICES"}
}
