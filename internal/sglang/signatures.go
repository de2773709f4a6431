package sglang

import "regexp"

// weight says how much a signature explains.
type weight int

const (
	root       weight = iota // a reason in itself
	opener                   // announces a reason that the lines after it may tell
	symptom                  // a server may live on after it; a reason only if nothing better follows
	collateral               // how others tell of a death; whatever follows is its consequence
)

// signature is one known way to fail, as it reads in the log.
type signature struct {
	code   string
	class  Class // during a start; under load, see classAt
	weight weight
	in     []PhaseName    // only there; empty: everywhere
	any    []string       // one of these texts, and
	re     *regexp.Regexp // this pattern, where there is one; the texts spare it most lines
	hint   string         // what to do next, one sentence
}

var (
	onlyProcess = []PhaseName{PhaseProcess}
	onlyGraphs  = []PhaseName{PhaseGraphs}
	onlyServing = []PhaseName{PhaseServing}
	afterLoad   = []PhaseName{PhaseKV, PhaseAutotune, PhaseGraphs}
)

// signatures are looked at in this order for each line; the first that fits
// names it. The texts are those of sglang's sources from v0.4.6 to v0.5.17 and
// of PyTorch, Triton, NCCL, uvicorn and Python as public threads quote them.
var signatures = []signature{
	// Arguments: argparse ends with exit code 2 within seconds.
	{code: "unknown-flag", class: Config, in: onlyProcess, any: []string{"error: unrecognized arguments:"},
		hint: "this version of sglang does not know the flag: look it up in its --help and correct the sweep file"},
	{code: "ambiguous-flag", class: Config, in: onlyProcess, any: []string{"error: ambiguous option:"},
		hint: "write the flag's full name: the short one fits several flags of this version"},
	{code: "invalid-value", class: Config, in: onlyProcess, any: []string{"error: argument "}, re: regexp.MustCompile(`error: argument .*(?:invalid choice|invalid .* value|expected )`),
		hint: "give the flag one of the values that this version accepts"},
	{code: "bad-arguments", class: Config, in: onlyProcess, any: []string{": error: "}, re: regexp.MustCompile(`^[\w./ -]{1,80}: error: `),
		hint: "correct the server's flags in the sweep file"},
	{code: "bad-arguments", class: Config, weight: opener, in: onlyProcess, any: []string{"usage: "}, re: regexp.MustCompile(`^usage: \S`),
		hint: "correct the server's flags in the sweep file"},
	{code: "not-installed", class: Config, any: []string{"No module named", "can't open file"}, re: regexp.MustCompile(`No module named '?sglang\b|can't open file .*No such file`),
		hint: "name the interpreter that has sglang in server.command; PATH is bare inside a container"},

	// The machine.
	{code: "gpu-lost", class: Host, any: []string{"GPU is lost", "has fallen off the bus", "uncorrectable ECC error", "Unable to determine the device handle for GPU"},
		hint: "the GPU needs a look before anything else runs: see the kernel log for Xid, reset or power-cycle the host"},
	{code: "driver-mismatch", class: Host, any: []string{"CUDA driver version is insufficient", "Driver/library version mismatch", "unsupported display driver / cuda driver combination",
		"Found no NVIDIA driver", "no CUDA-capable device is detected", "forward compatibility was attempted on non supported HW", "The NVIDIA driver on your system is too old"},
		hint: "make the driver, its libraries in the container and the CUDA build of sglang fit each other, and check that nvidia-smi works there"},
	{code: "dev-shm-small", class: Host, any: []string{"/dev/shm", "shared memory", "/torch_"}, re: regexp.MustCompile(`(?i)/dev/shm/\S*.*(?:no space|size \d)|failed to extend /dev/shm|creating shared memory segment|insufficient shared memory|unable to write to file </torch_`),
		hint: "give the container a larger /dev/shm (some GB) and unlimited locked memory"},
	{code: "disk-full", class: Host, any: []string{"No space left on device"},
		hint: "free space on the disk that is named, then run the same command again"},
	{code: "draft-memory-unbalanced", class: Config, in: afterLoad, any: []string{"The memory capacity is unbalanced"},
		hint: "the server's own first model already fills the GPUs unevenly when the draft model comes: set SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0 or change the split"}, //nolint:misspell // sglang spells it so
	{code: "gpus-busy", class: Host, any: []string{"The memory capacity is unbalanced"},
		hint: "some GPUs are not free: look in nvidia-smi for a process left over, or for cards of different sizes in one group"},
	{code: "too-few-gpus", class: Config, any: []string{"invalid device ordinal"},
		hint: "the configuration asks for more GPUs than are visible: check tp-size × pp-size and CUDA_VISIBLE_DEVICES"},
	{code: "port-in-use", class: Transient, any: []string{"already in use", "EADDRINUSE", "is not available in ", "[Errno 98]"}, re: regexp.MustCompile(`(?i:address already in use)|EADDRINUSE|is not available in \d+ seconds|Port is already in use|\[Errno 98\]`),
		hint: "another process holds a port this server needs: look for one that an earlier server left behind (sweep clean)"},

	// The model.
	{code: "model-access", class: Config, any: []string{"GatedRepoError", "401 Client Error", "gated repo"}, re: regexp.MustCompile(`GatedRepoError|401 Client Error: Unauthorized|Cannot access gated repo`),
		hint: "the model needs a token: accept its licence and pass HF_TOKEN as a secret"},
	{code: "download-failed", class: Transient, any: []string{"HTTPSConnectionPool", "MaxRetryError", "ReadTimeout", "ChunkedEncodingError", "IncompleteRead", "Server Error", "Consistency check failed", "Distant resource"}, re: regexp.MustCompile(`(?:HTTPSConnectionPool|MaxRetryError|ReadTimeout(?:Error)?|ChunkedEncodingError|IncompleteRead|5\d\d Server Error).*(?:huggingface|hf\.co|modelscope|xet)|Consistency check failed|Distant resource does not seem to be on huggingface`),
		hint: "download the model before the night and run with HF_HUB_OFFLINE=1"},
	{code: "model-missing", class: Config, any: []string{"Cannot find any model weights with", "is not a local folder and is not a valid model identifier", "LocalEntryNotFoundError", "RepositoryNotFoundError",
		"HFValidationError", "does not appear to have a file named", "Incorrect path_or_model_id", "Can't load the configuration of"},
		hint: "check model-path: it must be a directory inside the container with config.json and every shard, or a name on the hub"},
	{code: "weights-unreadable", class: Config, any: []string{"SafetensorError", "Error while deserializing header", "MetadataIncompleteBuffer"},
		hint: "a shard is cut short or damaged: compare its size and hash with the hub and fetch it again"},
	{code: "quant-config-missing", class: Config, any: []string{"Cannot find the config file for modelopt"},
		hint: "the checkpoint lacks its quantization config (hf_quant_config.json): fetch it, or leave out the quantization flag"},
	{code: "weight-shape", class: Config, any: []string{"size mismatch for ", "size of tensor", "Attempted to load weight"}, re: regexp.MustCompile(`size mismatch for |must match the size of tensor|Attempted to load weight \(.*into parameter`),
		hint: "the checkpoint does not fit the model code with these flags: for GLM-5.2 try --disable-shared-experts-fusion, else another sglang version"},
	{code: "model-files", class: Config, any: []string{"OSError: "}, re: regexp.MustCompile(`^(?:\w+\.)*OSError: `),
		hint: "a file of the model could not be read: check the path, its permissions and that it is whole"},

	// Memory.
	{code: "kv-too-small", class: Config, any: []string{"Not enough memory. Please try to increase --mem-fraction-static", "Loaded weights leave no GPU memory for the KV cache",
		"max_running_request is zero", "Memory pool size is too small"},
		hint: "the weights leave too little for the KV cache: raise mem-fraction-static, split over more GPUs, or ask for less context or a smaller KV type"},
	{code: "shared-memory", class: Config, any: []string{"out of resource: shared memory", "OutOfResources"},
		hint: "this kernel needs more shared memory per block than the GPU has (101,376 bytes on SM120): choose another attention or MoE backend"},
	{code: "kv-overrun", class: Serving, weight: symptom, any: []string{"Prefill out of memory. Try to lower your batch size", "Decode out of memory. Try to lower your batch size", "Out of memory even after retracting all other requests"},
		hint: "the KV pool is too small for the load: lower max-running-requests or the level's lengths, or raise schedule-conservativeness"},
	{code: "cuda-oom", class: Config, in: onlyGraphs, any: []string{"OutOfMemoryError", "CUDA out of memory", "CUDA error: out of memory"},
		hint: "CUDA graphs don't fit beside the KV cache: lower mem-fraction-static or cuda-graph-max-bs"},
	{code: "cuda-oom", class: Config, in: onlyServing, any: []string{"OutOfMemoryError", "CUDA out of memory", "CUDA error: out of memory"},
		hint: "activations don't fit beside the KV cache: lower mem-fraction-static, chunked-prefill-size or max-running-requests"},
	{code: "cuda-oom", class: Config, any: []string{"OutOfMemoryError", "CUDA out of memory", "CUDA error: out of memory"},
		hint: "the weights don't fit: split over more GPUs or use a smaller quantization, and check that nothing else holds GPU memory"},

	// Kernels.
	{code: "unsupported-kernel", class: Config, any: []string{"Unsupported architecture", "'ImportError' object", "kernel image is", "quantization method"}, re: regexp.MustCompile(`Unsupported architecture|'ImportError' object has no attribute|no kernel image is available for execution|device kernel image is invalid|quantization method .* is not supported for the current GPU`),
		hint: "this kernel was not built for the GPU: choose another attention, MoE or FP4 GEMM backend, or an sglang version that supports the GPU"},
	{code: "nan", class: Config, any: []string{"probability tensor contains either"},
		hint: "the model computed NaN: change the KV type, the attention backend or the FP4 GEMM backend"},
	{code: "device-assert", class: Config, any: []string{"device-side assert triggered"},
		hint: "a kernel's check failed: look for NaN or an index out of range above, and run once with CUDA_LAUNCH_BLOCKING=1"},
	{code: "graph-capture", class: Config, any: []string{"Capture cuda graph failed:", "Capture CUDA graph failed:"},
		hint: "lower mem-fraction-static or cuda-graph-max-bs, or measure with disable-cuda-graph"},
	{code: "illegal-access", class: Serving, any: []string{"an illegal memory access was encountered"},
		hint: "a kernel read or wrote outside its memory: try another attention or MoE backend, and look for Xid 13 or 31 in the kernel log"},

	// Between the ranks.
	{code: "nccl-timeout", class: Serving, any: []string{"Watchdog caught collective operation timeout"},
		hint: "a collective never ended: try NCCL_P2P_DISABLE=1 or another NCCL_P2P_LEVEL, and boot with iommu=pt"},
	{code: "nccl-error", class: Serving, any: []string{"ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclRemoteError", "NCCL error"},
		hint: "run once with NCCL_DEBUG=INFO; then try NCCL_P2P_DISABLE=1, a larger /dev/shm, or disable-custom-all-reduce"},
	{code: "cuda-error", class: Serving, any: []string{"torch.AcceleratorError: CUDA error", "unspecified launch failure", "RuntimeError: CUDA error:"},
		hint: "look for Xid in the kernel log; if it repeats with this configuration only, change the kernel backends"},

	// The server about itself.
	{code: "watchdog", class: Serving, any: []string{"watchdog timeout ("}, re: regexp.MustCompile(`watchdog timeout \(.*soft=False`),
		hint: "one step took longer than the watchdog allows: see the stack dump above the line, or raise watchdog-timeout if kernels compile there"},
	{code: "slow-step", class: Serving, weight: symptom, any: []string{"watchdog timeout ("},
		hint: "one step took longer than the soft watchdog allows: see the stack dump above the line"},
	{code: "warmup-failed", class: Config, weight: collateral, any: []string{"Initialization failed. warmup error:"},
		hint: "the server came up but its own first request failed: the backends chosen for this GPU are the first suspect"},
	{code: "health-failed", class: Serving, weight: symptom, any: []string{"Health check failed. Server couldn't get a response from detokenizer"},
		hint: "the scheduler gave no output for 20 seconds: look above for the batch it was working on"},
	{code: "scheduler-crash", class: Transient, weight: opener, any: []string{"hit an exception: Traceback"},
		hint: "read the traceback in server.log: its last line is the reason"},
	{code: "child-killed", class: Transient, weight: collateral, any: []string{"exit code"}, re: regexp.MustCompile(`(?:died during initialization \(exit code: -9\)|crashed with exit code -9\b)`),
		hint: "a rank was killed from outside: check the kernel log and the container's memory limit for the out-of-memory killer"},
	{code: "child-died", class: Transient, weight: collateral, any: []string{"exit code", "scheduler is dead"}, re: regexp.MustCompile(`died during initialization \(exit code|crashed with exit code|scheduler is dead\. Please check`),
		hint: "a rank ended without saying why: see server.log above the line, and the kernel log"},
	{code: "child-failed", class: Transient, weight: collateral, any: []string{"Received sigquit from a child process", "SIGQUIT received. signum="},
		hint: "a child process failed without a line that sweep knows: see the excerpt and server.log"},
	{code: "killed", class: Transient, weight: collateral, any: []string{"Killed"}, re: regexp.MustCompile(`^Killed$`),
		hint: "something sent SIGKILL: check the kernel log and the container's memory limit for the out-of-memory killer"},
}
