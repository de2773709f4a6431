// Package sim is a simulated sglang server: it takes sglang's flags, writes its
// log and serves its API on a real socket, with the timing of a model of a GPU
// server instead of GPUs, in the dialect of one of eight releases. The timing
// (Timing, Scheduler, Offline) has no clock and can be used without a server.
// Faults, failures that a server acts out on request, are for tests of what
// watches and measures servers.
package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs `sweep sim [simulator flags] [sglang flags]` until ctx ends or the
// process gets SIGTERM or SIGINT, and returns the exit status: 0 after a
// graceful stop, 1 when the port is taken or arguments contradict each other, 2
// for flags that argparse would refuse, 143 when stopped while loading. A crash
// of the simulated server kills the whole process with SIGKILL, as sglang does
// (so tests of crashes run it as a process of its own). The log goes to stderr,
// access lines to stdout.
//
// It reads NCCL_P2P_DISABLE, which changes the timing,
// SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION and SGLANG_HEALTH_CHECK_TIMEOUT as
// sglang does, and SWEEP_SIM_TRUTH, the file for the server's own record of
// each request.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opt, rest, err := splitOptions(args)
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: %v\n", err)
		return 2
	}
	flags := sglangFlags(opt.version)
	asked, err := parseArgs(flags, rest)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(stdout, simulatorUsage()+usage(flags))
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "%slaunch_server.py: error: %v\n", usage(flags), err)
		return 2
	}
	if !asked.None("config") {
		fmt.Fprintln(stderr, "sweep sim: error: the simulator does not read --config files: give the flags themselves")
		return 2
	}
	model, err := Preset(opt.preset)
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: argument --preset: %v\n", err)
		return 2
	}
	if opt.faults.ignored {
		asked = onDefaults(flags, asked)
	}
	noise := NoiseFactor(opt.noise, opt.noiseSeed)
	timing := NewTiming(model, setupFrom(asked, opt.version, os.Getenv, noise))
	if err := opt.faults.fit(timing); err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: argument --fault: %v\n", err)
		return 2
	}
	record, err := openTruth(os.Getenv("SWEEP_SIM_TRUTH"))
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: %v\n", err)
		return 2
	}
	defer record.close() //nolint:errcheck // each line was written by its own write

	log := &logger{out: stderr, web: stdout, ms: os.Getenv("SGLANG_LOG_MS") == "1"}
	log.line("sweep sim: this is the simulated sglang server of sweep, preset %s, time scale %g, start-up scale %g, noise factor %.4f: no GPU is used and no figure of it is a measurement",
		model.Name, opt.timeScale, opt.startupScale, noise)
	if err := contradiction(asked, timing); err != nil {
		fmt.Fprintf(stderr, "Traceback (most recent call last):\n  File \"/sgl-workspace/sglang/python/sglang/srt/server_args.py\", line 5217, in prepare_server_args\n%v\n", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	return newServer(opt, asked, timing, log, record).run(ctx)
}

// contradiction is what sglang asserts about its arguments before it starts any
// rank.
func contradiction(a Args, t Timing) error {
	ep, s := a.Int("ep_size"), t.setup
	spec := Spec{
		Algorithm: a.Text("speculative_algorithm"), Steps: a.Int("speculative_num_steps"),
		TopK: a.Int("speculative_eagle_topk"), Drafts: a.Int("speculative_num_draft_tokens"),
	}
	switch {
	case s.ChunkedPrefill > 0 && s.ChunkedPrefill%s.PageSize != 0:
		return errors.New("AssertionError: chunked_prefill_size must be divisible by page_size")
	case a.Int("tp_size") < 1 || a.Int("pp_size") < 1 || a.Int("dp_size") < 1:
		return errors.New("AssertionError: tp_size, pp_size and dp_size must be positive")
	case s.DPAttention && s.TP%s.DP != 0:
		return errors.New("AssertionError: tp_size must be divisible by dp_size")
	case s.MoERunner == "flashinfer_cutlass" && ep != 1 && ep != s.TP:
		return errors.New("AssertionError: The expert parallel size must be 1 or the same as the tensor parallel size")
	case s.PP > 1 && !t.dialect.from(11) && a.Bool("enable_mixed_chunk"):
		return errors.New("AssertionError: Pipeline parallelism is not compatible with mixed chunked prefill")
	}
	return spec.check(s.PP)
}

// onDefaults is a server that forgets what it was asked, but for what it serves
// and where.
func onDefaults(flags []flag, asked Args) Args {
	a := newArgs(flags)
	for _, name := range []string{"model_path", "tokenizer_path", "served_model_name", "host", "port", "api_key"} {
		if !asked.None(name) {
			a.Set(name, asked.values[name])
		}
	}
	return a
}
