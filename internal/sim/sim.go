// Package sim is a simulated sglang server: it takes sglang's flags, writes its
// log and serves its API on a real socket, with the timing of a model of a GPU
// server instead of GPUs. The timing (Timing, Scheduler, Offline) has no clock
// and can be used without a server.
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
// It reads NCCL_P2P_DISABLE, which changes the timing, and SWEEP_SIM_TRUTH, the
// file for the server's own record of each request.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opt, rest, err := splitOptions(args)
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: %v\n", err)
		return 2
	}
	flags := sglangFlags()
	asked, err := parseArgs(flags, rest)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(stdout, simulatorUsage+usage(flags))
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "%slaunch_server.py: error: %v\n", usage(flags), err)
		return 2
	}
	model, err := Preset(opt.preset)
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: argument --preset: %v\n", err)
		return 2
	}
	record, err := openTruth(os.Getenv("SWEEP_SIM_TRUTH"))
	if err != nil {
		fmt.Fprintf(stderr, "sweep sim: error: %v\n", err)
		return 2
	}
	defer record.close() //nolint:errcheck // each line was written by its own write

	noise := NoiseFactor(opt.noise, opt.noiseSeed)
	timing := NewTiming(model, setupFrom(asked, os.Getenv, noise))
	log := &logger{out: stderr, web: stdout}
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
	ep := a.Int("ep_size")
	switch {
	case t.setup.ChunkedPrefill > 0 && t.setup.ChunkedPrefill%t.setup.PageSize != 0:
		return errors.New("AssertionError: chunked_prefill_size must be divisible by page_size")
	case a.Int("tp_size") < 1 || a.Int("pp_size") < 1 || a.Int("dp_size") < 1:
		return errors.New("AssertionError: tp_size, pp_size and dp_size must be positive")
	case t.setup.MoERunner == "flashinfer_cutlass" && ep != 1 && ep != t.setup.TP:
		return errors.New("AssertionError: The expert parallel size must be 1 or the same as the tensor parallel size")
	}
	return nil
}

const simulatorUsage = `usage: sweep sim [--preset {glm5,small,fixed}] [--time-scale F] [--startup-scale F]
                 [--noise PERCENT] [--noise-seed N] [--log-format-version V]
                 [--fault {exit-load,die-under-load}] SGLANG-FLAGS...
`
