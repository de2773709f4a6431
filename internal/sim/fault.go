package sim

import (
	"fmt"
	"os"
	"syscall"

	"sweep/internal/sglang"
)

// fault is a failure that the server acts out on request.
type fault string

const (
	noFault      fault = ""
	exitLoad     fault = "exit-load"      // out of GPU memory while the weights load
	dieUnderLoad fault = "die-under-load" // a kernel fails once dieAfter requests have their first token
)

// dieAfter is how many requests a server with die-under-load lives for.
const dieAfter = 20

func parseFault(v string) (fault, error) {
	switch f := fault(v); f {
	case exitLoad, dieUnderLoad:
		return f, nil
	}
	return noFault, fmt.Errorf("invalid choice: %q (choose from %s, %s)", v, exitLoad, dieUnderLoad)
}

// failure is a crash of the server: what the log says before sglang kills its
// own process tree.
type failure struct {
	phase sglang.PhaseName
	text  string // last line of the traceback
	after string // what the parent process logs then
}

func (f failure) Error() string { return f.text }

const childFailed = "Received sigquit from a child process. It usually means the child failed."

// doomed tells whether a start fails in a phase, because it was told to or
// because the model does not fit.
func (t Timing) doomed(phase sglang.PhaseName, f fault) *failure {
	switch {
	case phase == sglang.PhaseWeights && (f == exitLoad || t.weightsGB() > t.model.GPUGB):
		return &failure{phase, fmt.Sprintf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. "+
			"GPU 0 has a total capacity of %.2f GiB of which 1.21 GiB is free. Including non-PyTorch memory, this process has %.2f GiB memory in use.",
			t.model.GPUGB+0.92, t.model.GPUGB-0.29), childFailed}
	case phase == sglang.PhaseKV && t.KVTokens() < t.setup.PageSize:
		return &failure{phase, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=" +
			repr(t.setup.MemFraction), childFailed}
	}
	return nil
}

// underLoad is the crash of die-under-load.
func underLoad() *failure {
	return &failure{sglang.PhaseServing, "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
		"SIGQUIT received. signum=None, frame=None. It usually means one child failed."}
}

// kill ends this process the way sglang ends itself after most crashes: with
// SIGKILL to its own tree, so that whoever waits for it sees exit status 137 or
// signal 9.
func kill() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
