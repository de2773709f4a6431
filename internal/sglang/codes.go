package sglang

// Codes of causes that no log line tells: they follow from how a process
// ended, from silence, or from what the port answers.
const (
	CodeArgs         = "args-combination" // a check of sglang's server_args.py failed
	CodeException    = "exception"        // a Python exception without a signature of its own
	CodeArguments    = "bad-arguments"    // refused by argparse
	CodeNotStarted   = "not-started"      // the command could not be started
	CodeExited       = "exited"           // ended with exit code 0 although it should serve
	CodeCrashed      = "crashed"          // ended with another code or signal and no known line
	CodeKilled       = "killed"           // ended by SIGKILL, by whom is not known
	CodeOOMKilled    = "oom-killed"       // the kernel's out-of-memory killer, proven by the cgroup
	CodeStalled      = "start-stalled"    // the log stopped growing before the server was ready
	CodeModelMissing = "model-missing"    // a model path without its files
	CodeTimeout      = "start-timeout"    // the hard cap over the start was reached
	CodePortTaken    = "port-in-use"      // the port answered before the start
	CodeForeign      = "foreign-answer"   // the port answers as another server
	CodeGeneration   = "first-generation" // the first real request failed
	CodeUnknown      = "unknown"
)

// untold holds class and hint of those codes.
var untold = map[string]struct {
	class Class
	hint  string
}{
	CodeArgs:       {Config, "sglang refuses this combination of flags: change the flag that the line names"},
	CodeException:  {Transient, "read the traceback in server.log: its last line is the reason"},
	CodeArguments:  {Config, "correct the server's flags in the sweep file"},
	CodeNotStarted: {Config, "check server.command: the program must exist and be executable inside the instance"},
	CodeExited:     {Config, "the command ended by itself without an error: check that server.command starts a server in the foreground"},
	CodeCrashed:    {Transient, "see the excerpt and server.log, and the kernel log for Xid or a segmentation fault"},
	CodeKilled:     {Transient, "sglang ends its own tree with SIGKILL on most crashes, so this proves no lack of memory: see server.log and the kernel log"},
	CodeOOMKilled:  {Config, "raise the container's memory limit, or load with fewer threads and without copies in host memory"},
	CodeStalled:    {Serving, "see the last lines of server.log; raise ready.stall if this phase is known to be silent for longer"},
	CodeTimeout:    {Config, "raise ready.timeout if the server was still making progress; keep its JIT caches on storage that outlives the container"},
	CodePortTaken:  {Transient, "end the process that holds the port (sweep clean shows what sweep left), or set another base port"},
	CodeForeign:    {Transient, "another server answers on this port: find it with ss -ltnp, end it, and run again"},
	CodeGeneration: {Config, "the server says it is healthy but cannot generate: the backends chosen for this GPU are the first suspect"},
	CodeUnknown:    {Transient, "see the excerpt and server.log"},
}

// silences say what a silent phase suggests.
var silences = map[PhaseName]string{
	PhaseProcess:  "a model download or a stale .lock file in the hub's cache is waited for: fetch the model first and set HF_HUB_OFFLINE=1",
	PhaseInit:     "the ranks wait for each other in their first collective: try NCCL_P2P_DISABLE=1, else another NCCL_P2P_LEVEL, NCCL_IB_DISABLE=1, and boot with iommu=pt",
	PhaseWeights:  "weights come slowly or not at all: check the disk, a download or a .lock file in the hub's cache",
	PhaseKV:       "the ranks wait for each other after loading: try NCCL_P2P_DISABLE=1 or another NCCL_P2P_LEVEL",
	PhaseAutotune: "kernels are tuned or compiled in silence: keep the JIT caches between starts, raise ready.stall, or set disable-flashinfer-autotune",
	PhaseGraphs:   "graphs are captured or kernels compiled in silence: keep the JIT caches between starts, raise ready.stall, or lower cuda-graph-max-bs",
	PhaseHTTP:     "the ranks are ready but the HTTP server does not come up: see server.log",
	PhaseWarmup:   "the first request does not return: kernels compile (raise ready.stall) or the scheduler hangs (see server.log)",
	PhaseServing:  "the server says it is ready but does not answer: see server.log",
}

// NewCause makes a cause that no log line told; code is one of the constants.
func NewCause(code string, phase PhaseName, told string) Cause {
	u, ok := untold[code]
	if !ok {
		u = untold[CodeUnknown]
	}
	return Cause{Code: code, Class: classAt(u.class, phase), Phase: phase, Line: cut(Plain(told), maxKept), Hint: u.hint}
}

// Hang makes the cause of a start that does not end: code is CodeStalled or
// CodeTimeout, last the last line of the log.
func Hang(code string, phase PhaseName, last string) Cause {
	c := NewCause(code, phase, last)
	if hint := silences[phase]; code == CodeStalled && hint != "" {
		c.Hint = hint
	}
	return c
}

// classAt is the class of a failure in a phase. Under load a failure that
// would doom a start only says that this load was too much, and is worth one
// new attempt; a host stays unfit.
func classAt(class Class, phase PhaseName) Class {
	if phase == PhaseServing && (class == Config || class == Transient) {
		return Serving
	}
	return class
}

// AtStart gives a failure the class it has during a start: for one that came
// after the server called itself ready and before anybody was served.
func AtStart(c Cause) Cause {
	if c.Phase != PhaseServing || c.Class != Serving {
		return c
	}
	if u, ok := untold[c.Code]; ok {
		c.Class = u.class
	}
	for _, s := range signatures {
		if s.code == c.Code {
			c.Class = s.class
			break
		}
	}
	if (c.Code == CodeException || c.Code == "scheduler-crash") && repeats(c.Line) {
		c.Class = Config
	}
	return c
}
