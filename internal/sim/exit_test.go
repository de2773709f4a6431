package sim

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sweep/internal/sglang"
)

// A reader of the log finds the cause that was acted out, in the phase where it
// was, and the process ends as sglang's would.
func TestExitFaults(t *testing.T) {
	const killed = -int(syscall.SIGKILL)
	for _, c := range []struct {
		fault string
		code  string // the reader's name for it
		phase sglang.PhaseName
		exit  int // negative: a signal
		args  string
	}{
		{fault: "exit:process:zero", code: "", phase: sglang.PhaseProcess, exit: 0},
		{fault: "exit:args", code: "args-combination", phase: sglang.PhaseProcess, exit: 1},
		{fault: "exit:model-missing", code: "model-missing", phase: sglang.PhaseProcess, exit: 1},
		{fault: "exit:driver", code: "driver-mismatch", phase: sglang.PhaseProcess, exit: 1},
		{fault: "exit:internal-port", code: "port-in-use", phase: sglang.PhaseProcess, exit: 1},
		{fault: "exit:port-in-use", code: "port-in-use", phase: sglang.PhaseHTTP, exit: 1},
		{fault: "exit:nccl-error", code: "nccl-error", phase: sglang.PhaseInit, exit: killed},
		{fault: "exit:dev-shm", code: "dev-shm-small", phase: sglang.PhaseInit, exit: killed},
		{fault: "exit:too-few-gpus", code: "too-few-gpus", phase: sglang.PhaseInit, exit: killed},
		{fault: "exit:gpus-busy", code: "gpus-busy", phase: sglang.PhaseInit, exit: killed},
		{fault: "exit:gpu-lost", code: "gpu-lost", phase: sglang.PhaseInit, exit: killed},
		{fault: "exit:weights-missing", code: "model-missing", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:weights-damaged", code: "weights-unreadable", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:weight-shape", code: "weight-shape", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:quant-config", code: "quant-config-missing", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:disk-full", code: "disk-full", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:weights:cuda-oom", code: "cuda-oom", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit-load", code: "cuda-oom", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:kv-too-small", code: "kv-too-small", phase: sglang.PhaseKV, exit: killed},
		{fault: "exit:graphs:oom-rank3", code: "cuda-oom", phase: sglang.PhaseGraphs, exit: killed, args: "--tp 4"},
		{fault: "exit:graph-capture", code: "graph-capture", phase: sglang.PhaseGraphs, exit: killed},
		{fault: "exit:unsupported-arch", code: "unsupported-kernel", phase: sglang.PhaseGraphs, exit: killed},
		{fault: "exit:no-kernel-image", code: "unsupported-kernel", phase: sglang.PhaseGraphs, exit: killed},
		{fault: "exit:import-error", code: "unsupported-kernel", phase: sglang.PhaseGraphs, exit: killed},
		{fault: "exit:shared-memory", code: "shared-memory", phase: sglang.PhaseGraphs, exit: killed},
		{fault: "exit:weights:child-killed", code: "child-killed", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:weights:child-killed", code: "child-died", phase: sglang.PhaseWeights, exit: killed, args: "--sglang-version 0.5.9"},
		{fault: "exit:weights:sigkill", code: "", phase: sglang.PhaseWeights, exit: killed},
		{fault: "exit:warmup-failed", code: "warmup-failed", phase: sglang.PhaseWarmup, exit: killed},
		{fault: "exit:serving:nccl-timeout:0", code: "nccl-timeout", phase: sglang.PhaseServing, exit: killed},
	} {
		t.Run(strings.TrimSpace(c.fault+" "+c.args), func(t *testing.T) {
			t.Parallel()
			cmd, log := spawn(t, append([]string{"--fault", c.fault, "--port", "0", "--time-scale", "500"}, strings.Fields(c.args)...)...)
			if got := exitOf(t, cmd.Wait()); got != c.exit {
				t.Errorf("ended with %d, want %d", got, c.exit)
			}
			r := sglang.NewLogReader()
			r.Feed(time.Now(), []byte(log.String()))
			r.End(time.Now())
			switch cause := r.Cause(); {
			case c.code == "" && cause != nil, c.code != "" && cause == nil:
				t.Errorf("cause %+v, want %q\n%s", cause, c.code, log)
			case cause != nil && cause.Code != c.code:
				t.Errorf("cause %+v, want %q\n%s", cause, c.code, log)
			}
			if phase, _ := r.Current(); phase != c.phase && c.phase != sglang.PhaseServing {
				t.Errorf("died in %s, want %s\n%s", phase, c.phase, log)
			}
		})
	}
}

// exitOf is a process's exit status, or its signal as a negative number.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit == nil {
		return 0
	}
	if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
		return -int(s.Signal())
	}
	return exit.ExitCode()
}

// A26: the rank that failed speaks first; what the others say is collateral.
func TestA26OneRankRunsOutOfMemoryAtCapture(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "exit:graphs:oom-rank3", "--tp", "8", "--port", "0")
	_ = cmd.Wait() // killed, as another test checks
	inOrder(t, log.String(), "Capture cuda graph bs", "Capturing batches", " TP3] Scheduler hit an exception", "torch.OutOfMemoryError: CUDA out of memory",
		"GPU 3 has a total capacity", " TP0] Scheduler hit an exception", " TP7] Scheduler hit an exception", "Received sigquit from a child process")
}

// A07, A17: a server that hangs in a phase never opens its port and goes when it
// is told to.
func TestA17HangsInAPhase(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "hang:init", "--port", "0")
	log.wait(t, "sglang is using nccl")
	time.Sleep(20 * time.Millisecond) // a sane one would be through with everything
	if strings.Contains(log.String(), "Load weight begin") {
		t.Error("it did not hang")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := exitOf(t, cmd.Wait()); got != 143 && got != -int(syscall.SIGTERM) {
		t.Errorf("ended with %d", got)
	}
}

func TestFaultsThatCannotBeActedOutAreRefused(t *testing.T) {
	for fault, want := range map[string]string{
		"nonsense":                   "invalid choice: 'nonsense' (choose from exit, hang",
		"exit:weights:nonsense":      `no cause "nonsense"`,
		"exit":                       `no cause ""`,
		"exit:autotune:cuda-oom":     "does not go through the phase autotune",
		"exit:graphs:cuda-oom-rank8": "there is no rank 8, this server has 1",
		"exit:oom-rankx":             `rank "x" is not a number`,
		"hang:nowhere":               `no phase "nowhere"`,
		"stream-error:2":             `share "2" is not above 0`,
		"garbage:poem":               `no kind "poem"`,
		"health-early:never":         `"never" is neither`,
		"orphan:x":                   `"x" is neither`,
		"flags-ignored:x":            `"x" is not NAME=VALUE`,
		"healthy:1":                  "healthy takes no argument",
		"refuse:-1":                  `"-1" is not a whole number`,
	} {
		log := newOutput()
		if code := Main(t.Context(), []string{"--preset", "small", "--model", "m", "--fault", fault}, log, log); code != 2 || !strings.Contains(log.String(), want) {
			t.Errorf("%s: exit status %d, %s, want %s", fault, code, log, want)
		}
	}
}

// The table in the help names every fault, phase and cause.
func TestHelpShowsTheFaults(t *testing.T) {
	out, log := newOutput(), newOutput()
	if code := Main(t.Context(), []string{"--help"}, out, log); code != 0 {
		t.Fatalf("exit status %d: %s", code, log)
	}
	for _, k := range faultKinds() {
		if !strings.Contains(out.String(), "\n  "+k.name) || !strings.Contains(out.String(), k.what) {
			t.Errorf("no %s in the help", k.name)
		}
	}
	for _, want := range append(causeNames(), versions()...) {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in the help", want)
		}
	}
}

// A11, A12: the child outlives a server that is killed and keeps the port; the
// next server finds it taken.
func TestA11OrphanKeepsThePort(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "orphan:http", "--port", "0")
	m := log.wait(t, `fault orphan: process (\d+) keeps 127\.0\.0\.1:(\d+)`)
	pid := m[1]
	t.Cleanup(func() {
		if p, err := os.FindProcess(atoi(t, pid)); err == nil {
			_ = p.Kill() // it may be gone
		}
	})
	log.wait(t, "Uvicorn running")
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // by our signal
	if err := syscall.Kill(atoi(t, pid), 0); err != nil {
		t.Fatalf("the child is gone: %v", err)
	}
	next, nextLog := spawn(t, "--port", m[2])
	if got := exitOf(t, next.Wait()); got != 1 || !strings.Contains(nextLog.String(), "address already in use") {
		t.Errorf("the next server ended with %d\n%s", got, nextLog)
	}
}

func TestA11OrphanKeepsTheInternalPort(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "orphan", "--port", "0")
	m := log.wait(t, `fault orphan: process (\d+) keeps 127\.0\.0\.1:(\d+)`)
	t.Cleanup(func() { _ = syscall.Kill(atoi(t, m[1]), syscall.SIGKILL) })
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // by our signal
	next, nextLog := spawn(t, "--port", "0", "--nccl-port", m[2])
	if got := exitOf(t, next.Wait()); got != 1 || !strings.Contains(nextLog.String(), "Port is already in use. dist_init_port="+m[2]) {
		t.Errorf("the next server ended with %d\n%s", got, nextLog)
	}
}
