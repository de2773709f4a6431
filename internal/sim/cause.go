package sim

import (
	"fmt"
	"slices"
	"strings"

	"sweep/internal/sglang"
)

// cause is one named reason to die. The texts are those of sglang, PyTorch,
// NCCL, Triton and uvicorn as their sources and public threads have them. In
// them {gpu}, {fraction}, {watchdog} and {model} stand for this server's own.
type cause struct {
	name   string
	phase  sglang.PhaseName // where it happens when no phase is named
	died   died
	before []string // lines of others, without a prefix
	text   string   // last lines of the traceback, or the whole message
	exit   int      // of a quiet end; -1 is SIGKILL
}

// portInUse is the cause that only shows when the HTTP port is opened, whatever
// phase is named.
const portInUse = "port-in-use"

// causes are the reasons that --fault exit knows.
func causes() []cause {
	const (
		process, collectives, weights = sglang.PhaseProcess, sglang.PhaseInit, sglang.PhaseWeights
		kv, graphs, web, warmup       = sglang.PhaseKV, sglang.PhaseGraphs, sglang.PhaseHTTP, sglang.PhaseWarmup
		serving                       = sglang.PhaseServing
	)
	return []cause{
		{name: "zero", phase: process, died: quiet},
		{name: "args", phase: process, died: inArgs, text: "AssertionError: moe_dense_tp_size only support 1 and None currently"},
		{name: "model-missing", phase: process, died: inLauncher, text: "OSError: {model} is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'"},
		{name: "driver", phase: process, died: inLauncher, text: "RuntimeError: The NVIDIA driver on your system is too old (found version 12040)."},
		{name: portInUse, phase: web},
		{name: "internal-port", phase: process, died: inLauncher, text: "ValueError: Port is already in use. dist_init_port=30011"},
		{name: "nccl-error", phase: collectives, text: "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:94, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.3\nncclUnhandledCudaError: Call to CUDA function failed."},
		{name: "nccl-timeout", phase: serving, died: quiet, exit: -1,
			before: []string{"[rank0]:[E807 03:20:00.123456789 ProcessGroupNCCL.cpp:685] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600015 milliseconds before timing out."}},
		{name: "dev-shm", phase: collectives, before: []string{"host:812:812 [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-vsmvmj to 33030532 bytes, error: No space left on device (28)"},
			text: "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:328, unhandled system error (run with NCCL_DEBUG=INFO for details)\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."},
		{name: "too-few-gpus", phase: collectives, text: "torch.AcceleratorError: CUDA error: invalid device ordinal"},
		{name: "gpus-busy", phase: collectives, text: "RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=94.05, local_gpu_memory=94.05, local_gpu_memory * 0.9=84.65"},
		{name: "gpu-lost", phase: collectives, text: "RuntimeError: Unable to determine the device handle for GPU0000:C1:00.0: GPU is lost. Reboot the system to recover this GPU"},
		{name: "weights-missing", phase: weights, text: "RuntimeError: Cannot find any model weights with `{model}`"},
		{name: "weights-damaged", phase: weights, text: "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer"},
		{name: "weight-shape", phase: weights, text: "RuntimeError: The size of tensor a (3072) must match the size of tensor b (6144) at non-singleton dimension 1"},
		{name: "quant-config", phase: weights, text: "ValueError: Cannot find the config file for modelopt_fp4"},
		{name: "disk-full", phase: weights, text: "OSError: [Errno 28] No space left on device"},
		{name: "cuda-oom", phase: weights, text: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. {gpu}"},
		{name: "kv-too-small", phase: kv, text: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static={fraction}"},
		{name: "graph-capture", phase: graphs, text: "Exception: Capture cuda graph failed: CUDA error: operation not permitted when stream is capturing\nPossible solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n2. set --cuda-graph-max-bs to a smaller value (e.g., 16)\n3. disable torch compile by not using --enable-torch-compile\n4. disable CUDA graph by --disable-cuda-graph. (Not recommended. Huge performance loss)"},
		{name: "unsupported-arch", phase: graphs, text: "RuntimeError: Assertion error (csrc/apis/attention.hpp:219): Unsupported architecture"},
		{name: "no-kernel-image", phase: graphs, text: "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device"},
		{name: "import-error", phase: graphs, text: "AttributeError: 'ImportError' object has no attribute 'get_num_sms'"},
		{name: "shared-memory", phase: graphs, text: "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 106496, Hardware limit: 101376. Reducing block sizes or `num_stages` may help."},
		{name: "child-killed", phase: weights, died: rankKilled},
		{name: "sigkill", phase: weights, died: treeKilled},
		{name: "warmup-failed", phase: warmup, died: quiet, exit: -1, text: "Initialization failed. warmup error: Traceback (most recent call last): AssertionError: res=<Response [500]>, res.text='Internal Server Error'"},
		{name: "nan", phase: serving, before: []string{"/pytorch/aten/src/ATen/native/cuda/TensorCompare.cu:112: _assert_async_cuda_kernel: block: [0,0,0], thread: [0,0,0] Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed."},
			text: "torch.AcceleratorError: CUDA error: device-side assert triggered"},
		{name: "illegal-access", phase: serving, text: "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"},
		{name: "launch-failure", phase: serving, text: "torch.AcceleratorError: CUDA error: unspecified launch failure"},
		{name: "scheduler-crash", phase: serving, text: "IndexError: list index out of range"},
		{name: "watchdog", phase: serving, died: quiet, exit: -1, before: []string{"Thread 812 (idle): \"MainThread\"\n    forward_batch_generation (sglang/srt/managers/tp_worker.py:412)\n    run_batch (sglang/srt/managers/scheduler.py:2210)"},
			text: "Scheduler watchdog timeout (self.watchdog_timeout={watchdog}, self.soft=False)"},
	}
}

// findCause returns a cause by its name, "oom" being short for cuda-oom.
func findCause(name string) (cause, error) {
	if name == "oom" {
		name = "cuda-oom"
	}
	list := causes()
	if i := slices.IndexFunc(list, func(c cause) bool { return c.name == name }); i >= 0 {
		return list[i], nil
	}
	return cause{}, fmt.Errorf("no cause %q: there are %s", name, strings.Join(causeNames(), ", "))
}

func causeNames() (names []string) {
	for _, c := range causes() {
		names = append(names, c.name)
	}
	return names
}

// gpuMemory is PyTorch's description of a full GPU.
func (s *server) gpuMemory(rank int) string {
	gb := s.timing.model.GPUGB
	return fmt.Sprintf("GPU %d has a total capacity of %.2f GiB of which 1.21 GiB is free. Including non-PyTorch memory, this process has %.2f GiB memory in use.",
		rank, gb+0.92, gb-0.29)
}
