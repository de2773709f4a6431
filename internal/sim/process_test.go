package sim

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// spawn runs the simulator as a process of its own.
func spawn(t *testing.T, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	log := newOutput()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--preset", "small", "--time-scale", "100", "--model", "m"}, args...)...)
	cmd.Env = append(os.Environ(), "SIM_TEST_MAIN=1")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, log
}

func signalOf(t *testing.T, err error) syscall.Signal {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("ended with %v", err)
	}
	return exit.Sys().(syscall.WaitStatus).Signal()
}

func TestOutOfMemoryAtLoadKillsItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"asked for":      {[]string{"--fault", "exit-load"}, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"},
		"does not fit":   {[]string{"--preset", "glm5", "--tp", "4", "--time-scale", "2000"}, "torch.OutOfMemoryError: CUDA out of memory."},
		"no room for KV": {[]string{"--mem-fraction-static", "0.1"}, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, log := spawn(t, c.args...)
			if got := signalOf(t, cmd.Wait()); got != syscall.SIGKILL {
				t.Errorf("ended by %v", got)
			}
			text := log.String()
			if !strings.Contains(text, c.want) || !strings.Contains(text, "Received sigquit from a child process.") || strings.Contains(text, "Uvicorn running") {
				t.Errorf("log:\n%s", text)
			}
		})
	}
}

func TestDieUnderLoad(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "die-under-load", "--port", "0")
	l := &live{t: t, log: log, url: log.wait(t, `Uvicorn running on (http://\S+)`)[1], client: newClient()}
	l.ready()
	failed := 0
	for i := range 25 {
		if _, err := l.stream(body(i+1, 8, 4)); err != nil {
			failed++
		}
	}
	if got := signalOf(t, cmd.Wait()); got != syscall.SIGKILL {
		t.Errorf("ended by %v", got)
	}
	if failed < 5 || failed > 6 || !strings.Contains(log.String(), "CUDA error: an illegal memory access") {
		t.Errorf("%d of 25 requests failed\n%s", failed, log)
	}
}

func TestTerminateIsGraceful(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--port", "0")
	log.wait(t, "fired up and ready to roll")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(log.String(), "Gracefully exiting...") {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestBusyPortFailsOnlyAfterLoading(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	cmd, log := spawn(t, "--port", port)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("ended with %v", err)
	}
	inOrder(t, log.String(), "Load weight end", "max_total_num_tokens=", "Application startup complete.",
		"error while attempting to bind on address ('127.0.0.1', "+port+"): address already in use")
}

// A15, D01: what argparse refuses ends within a moment, with status 2 and its
// usual shape.
func TestA15UnknownFlagExitsLikeArgparse(t *testing.T) {
	log := newOutput()
	code := Main(t.Context(), []string{"--preset", "small", "--model", "m", "--tp_size", "8"}, log, log)
	if code != 2 {
		t.Errorf("exit status %d", code)
	}
	text := log.String()
	if !strings.HasPrefix(text, "usage: launch_server.py [-h] --model-path MODEL_PATH\n") ||
		!strings.HasSuffix(text, "\nlaunch_server.py: error: unrecognized arguments: --tp_size 8\n") {
		t.Errorf("%s", text)
	}
}

func TestLogOrder(t *testing.T) {
	t.Parallel()
	l := start(t, "--preset", "glm5", "--tp", "4", "--pp-size", "2", "--time-scale", "200", "--quantization", "modelopt_fp4",
		"--moe-runner-backend", "flashinfer_trtllm").ready()
	l.burst(1, 8, 45)
	inOrder(t, l.log.String(),
		"sweep sim: this is the simulated sglang server",
		"Pipeline parallelism is incompatible with overlap schedule.",
		"server_args=ServerArgs(model_path='m'",
		" PP0 TP0] Init torch distributed begin.", " PP1 TP3] Init torch distributed begin.", "Init torch distributed ends. elapsed=",
		"Load weight begin. avail mem=94.05 GB", "\rLoading safetensors checkpoint shards:   0% Completed | 0/47", "100% Completed | 47/47",
		"type=GlmMoeDsaForCausalLM, quant=modelopt_fp4, avail mem=36.99 GB, mem usage=57.06 GB.",
		"Using KV cache dtype: torch.bfloat16", "KV Cache is allocated. #tokens: 314304, KV size: 29.47 GB", "Memory pool end. avail mem=7.52 GB",
		"Running FlashInfer autotune...", "FlashInfer autotune completed.",
		"Capture cuda graph begin.", "Capture cuda graph bs [1, 2, 4, 8, 12, 16,", "\rCapturing batches (bs=512 avail_mem=", "Capture cuda graph end. Time elapsed: ",
		"max_total_num_tokens=314304, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=202752, available_gpu_mem=",
		"INFO:     Started server process [", "INFO:     Waiting for application startup.", "INFO:     Application startup complete.", "INFO:     Uvicorn running on http://127.0.0.1:",
		"Prefill batch, #new-seq: 1, #new-token: 8, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, cuda graph: False, input throughput (token/s): ",
		"The server is fired up and ready to roll!",
		"Decode batch, #running-req: 1, #token: ", "token usage: 0.00, cuda graph: True, gen throughput (token/s): ", "#queue-req: 0",
	)
}

// inOrder checks that patterns follow each other.
func inOrder(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		at := regexp.MustCompile(regexp.QuoteMeta(p)).FindStringIndex(text)
		if at == nil {
			t.Fatalf("%q does not follow in\n%s", p, text)
		}
		text = text[at[1]:]
	}
}
