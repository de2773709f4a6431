package report

import (
	"fmt"
	"time"

	"sweep/internal/bench"
	"sweep/internal/gpu"
	"sweep/internal/matrix"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

func ptr[T any](v T) *T { return &v }

var evening = time.Date(2026, 12, 1, 22, 15, 0, 0, time.UTC)

// levels of every fixture: single stream first.
var levels = []bench.Level{
	level(bench.Closed, 1, 8),
	level(bench.Closed, 64, 320),
	level(bench.Burst, 256, 256),
}

func level(mode bench.Mode, concurrency, prompts int) bench.Level {
	return bench.Level{Mode: mode, Concurrency: concurrency, Prompts: prompts,
		Workload: bench.Workload{Name: "short", InputLen: 256, OutputLen: 128, RangeRatio: 1, Seed: 1}}
}

// labelled makes a configuration from "axis", "value", … pairs.
func labelled(id string, pairs ...string) sweep.Configuration {
	c := sweep.Configuration{ID: id, Command: []string{"python3", "-m", "sglang.launch_server"}}
	for i := 0; i < len(pairs); i += 2 {
		c.Labels = append(c.Labels, matrix.Label{Axis: pairs[i], Value: pairs[i+1]})
		if i > 0 {
			c.Name += ","
		}
		c.Name += pairs[i] + "=" + pairs[i+1]
	}
	return c
}

func fingerprint(simulated bool) sweep.Fingerprint {
	f := sweep.Fingerprint{
		Host:   sweep.HostFacts{Hostname: "gpu-1", Kernel: "6.8.12", CPU: "AMD EPYC 9554", Cores: 64, Driver: "595.58.03"},
		Server: &sglang.Resolved{Version: "0.5.6", ModelPath: "lukealonso/GLM-5-NVFP4", Simulated: simulated},
		Sweep:  "0.1.0",
	}
	for i := range 8 {
		f.Host.GPUs = append(f.Host.GPUs, gpu.GPU{Index: i, UUID: fmt.Sprint("GPU-", i), Name: "NVIDIA RTX PRO 6000"})
	}
	return f
}

// measure makes a sound measurement of a level at an output throughput.
func measure(l bench.Level, output float64) bench.Measurement {
	in := output * float64(l.Workload.InputLen) / float64(l.Workload.OutputLen)
	n := l.Prompts
	tokens := int64(n * l.Workload.OutputLen)
	tpot := 1000 * float64(l.Concurrency) / output
	ttft := 100 + 1.5*float64(l.Concurrency)
	spread := func(p50 float64) bench.Dist {
		p99 := p50 * 1.37
		return bench.Dist{N: n, Mean: ptr(p50 * 1.04), Std: ptr(p50 / 9), P50: ptr(p50), P90: ptr(p50 * 1.2), P95: ptr(p50 * 1.3), P99: ptr(p99), Max: ptr(p50 * 1.5)}
	}
	return bench.Measurement{
		Schema: 1, Key: l.Key(), Level: l, Tool: bench.Tool, ToolVersion: bench.ToolVersion, Attempt: 1, Started: evening,
		Window: float64(tokens) / output, Ended: bench.Complete, Asked: n, Issued: n, Completed: n,
		AskedInputTokens: int64(n * l.Workload.InputLen), AskedOutputTokens: tokens, InputTokens: ptr(int64(n * l.Workload.InputLen)), OutputTokens: tokens,
		OutputThroughput: ptr(output), InputThroughput: ptr(in), TotalThroughput: ptr(in + output), PeakOutputThroughput: ptr(output * 1.1),
		PerStream: ptr(1000 / tpot), RequestThroughput: ptr(output / float64(l.Workload.OutputLen)),
		TTFT: spread(ttft), TPOT: spread(tpot), ITL: spread(tpot), E2E: spread(ttft + 127*tpot),
		ConcurrencyMean: ptr(float64(l.Concurrency) * 0.97), ConcurrencyPeak: l.Concurrency,
		Client: bench.Client{CPUSeconds: ptr(1.5), CPUShare: ptr(0.08), SlotShare: ptr(0.99)}, Warmup: min(l.Concurrency, 64), Flush: "flushed",
	}
}

// within gives a measurement the goodput it has under some limits.
func within(slo bench.SLO, m bench.Measurement, share float64) bench.Measurement {
	m.SLO = slo
	if slo != (bench.SLO{}) {
		m.Goodput, m.GoodputShare = ptr(*m.RequestThroughput*share), ptr(share)
	}
	return m
}

func newRun(c sweep.Configuration, repeat int, simulated bool, ms ...bench.Measurement) sweep.Run {
	name := fmt.Sprintf("20261201T2215%02d.000-%s-%d", repeat, c.ID, repeat)
	return sweep.Run{ID: c.ID, Name: name, Measurements: ms, Records: []sweep.Record{{
		Schema: 1, Sweep: "20261201-221500-glm5", Run: name, Repeat: repeat, Attempt: 1, Configuration: c, Status: sweep.StatusDone, Started: evening,
		Fingerprint: fingerprint(simulated),
	}}}
}

// night is a plan and what came of it.
type night struct {
	plan    sweep.Plan
	runs    map[int]sweep.Run
	reasons map[int]string
}

func newNight(configs ...sweep.Configuration) *night {
	n := &night{plan: sweep.Plan{Schema: 1, Name: "glm5", Configurations: configs, Levels: levels}, runs: map[int]sweep.Run{}, reasons: map[int]string{}}
	for repeat := 1; repeat <= 2; repeat++ {
		for _, c := range configs {
			n.plan.Runs = append(n.plan.Runs, sweep.PlannedRun{Ordinal: len(n.plan.Runs) + 1, Config: c.ID, Repeat: repeat})
		}
	}
	return n
}

// add puts the run of one planned ordinal.
func (n *night) add(ordinal int, simulated bool, ms ...bench.Measurement) *sweep.Run {
	p := n.plan.Runs[ordinal-1]
	for _, c := range n.plan.Configurations {
		if c.ID == p.Config {
			run := newRun(c, p.Repeat, simulated, ms...)
			n.runs[ordinal] = run
			return &run
		}
	}
	return nil
}

func (n *night) input(title string) Input {
	var runs []sweep.Run
	for o := 1; o <= len(n.plan.Runs); o++ {
		if run, ok := n.runs[o]; ok {
			runs = append(runs, run)
		}
	}
	return ForNight(title, &n.plan, n.runs, n.reasons, verdict.Judge(runs, verdict.Limits{}))
}

// goodNight is 4 configurations × 3 levels × 2 repeats without trouble.
func goodNight() Input {
	fixed := []string{"model", "GLM-5-NVFP4", "p2p", "sys"}
	config := func(id, parallel, graphs string) sweep.Configuration {
		return labelled(id, append([]string{"parallel", parallel, "cuda-graph", graphs}, fixed...)...)
	}
	n := newNight(config("c1", "tp8", "off"), config("c2", "tp8", "bs256"), config("c3", "tp4-pp2", "off"), config("c4", "tp4-pp2", "bs256"))
	n.plan.Configurations[0].Baseline = true
	n.plan.Goals = []sweep.Goal{
		{Metric: "per_stream", Levels: []string{levels[0].Key()}, Min: ptr(50.0)},
		{Metric: "ttft_p99", Levels: []string{levels[1].Key(), levels[2].Key()}, Max: ptr(500.0)},
		{Metric: "goodput_share", Levels: []string{levels[1].Key()}, Min: ptr(0.6)},
	}
	speed := [][]float64{{10.3, 420, 704}, {50.2, 1011, 1105}, {5.2, 215, 352}, {26.1, 512, 704}}
	for o := range n.plan.Runs {
		var ms []bench.Measurement
		for i, l := range levels {
			m := measure(l, speed[o%4][i]*(1+0.012*float64(o/4)*float64(1-2*(i%2))))
			if o < 2 && l.Mode == bench.Closed { // ramp-up is seen at c=64 only
				m.Steady = &bench.Steady{Seconds: m.Window * 0.7, OutputThroughput: ptr(*m.OutputThroughput * (1 + 0.002*float64(l.Concurrency)))}
			}
			slo := bench.SLO{TTFT: 250 * time.Millisecond, TPOT: 100 * time.Millisecond}
			if o == 7 {
				slo.TTFT = 2 * time.Second // of the last run of the last configuration
			}
			ms = append(ms, within(slo, m, 1/(1+float64(l.Concurrency*(1+o%4))/256)))
		}
		run := n.add(o+1, true, ms...)
		if o < 3 {
			run.Records[0].Sweep = "20261130-220000-glm5"
		}
		n.runs[o+1] = *run
	}
	return n.input("20261201-221500-glm5")
}

// tiedNight is 4 configurations, each measured once, of which none is best
// alone at two levels.
func tiedNight() Input {
	n := newNight(labelled("c1", "cuda-graph", "on", "max-running-requests", "32"), labelled("c2", "cuda-graph", "on", "max-running-requests", "8"),
		labelled("c3", "cuda-graph", "off", "max-running-requests", "32"), labelled("c4", "cuda-graph", "on", "max-running-requests", "32"))
	n.plan.Configurations[0].Baseline = true
	n.plan.Configurations[3].Name = "small-prefill"
	n.plan.Runs = n.plan.Runs[:4]
	speed := [][]float64{{162.3, 1343, 1479}, {162.1, 668.6, 805}, {72.28, 951.5, 1104}, {162.6, 1331, 1533}}
	for o := range n.plan.Runs {
		var ms []bench.Measurement
		for i, l := range levels {
			ms = append(ms, within(bench.SLO{TTFT: 2 * time.Second}, measure(l, speed[o][i]), 1/float64(1+o)))
		}
		n.add(o+1, true, ms...)
	}
	return n.input("20261201-221500-glm5")
}

// failedAs makes the last record of a run a failure.
func failedAs(run sweep.Run, cause sglang.Cause, exit, level string) sweep.Run {
	r := &run.Records[len(run.Records)-1]
	r.Status = sweep.StatusFailed
	r.Failure = &sweep.Failure{Cause: cause, Exit: exit, Level: level, Log: fmt.Sprintf("runs/%s/%s/attempt-%d/server.log", run.ID, run.Name, r.Attempt), Excerpt: []string{cause.Line, "Traceback (most recent call last):"}}
	return run
}

// badNight has one of everything that can go wrong.
func badNight() Input {
	config := func(id, tp, mem string) sweep.Configuration {
		return labelled(id, "model", "GLM-5-NVFP4", "parallel", tp, "mem-fraction-static", mem)
	}
	n := newNight(
		config("c1", "tp8", "0.85"),     // baseline; one repeat is invalid at c=64
		config("c2", "tp8", "0.90"),     // requests fail
		config("c3", "tp8", "0.97"),     // does not start
		config("c4", "tp4-pp2", "0.85"), // dies under the burst, after a retry
		config("c5", "tp4-pp2", "0.90"), // interrupted before it measured the burst
		config("c6", "tp4-pp2-with-a-very-long-label-that-nobody-wants-to-type", "0.97"), // never reached
	)
	n.plan.Configurations[0].Baseline = true
	n.plan.Goals = []sweep.Goal{
		{Metric: "per_stream", Levels: []string{levels[0].Key()}, Min: ptr(10.0)},
		{Metric: "tpot_p50", Levels: []string{levels[2].Key()}, Min: ptr(1.0), Max: ptr(400.0)},
	}

	n.add(1, false, measure(levels[0], 10.3), measure(levels[1], 420), measure(levels[2], 704))
	wrong := measure(levels[1], 900)
	wrong.TotalThroughput = ptr(5000.0)
	n.add(7, false, measure(levels[0], 10.4), wrong, measure(levels[2], 699))

	some := measure(levels[1], 455)
	some.Completed, some.Failed, some.Errors = 318, 2, map[string]int{"HTTP 503: \x1b[31mqueue full\x1b[0m": 2}
	some.InputTokens, some.OutputTokens = ptr(*some.InputTokens*318/320), some.OutputTokens*318/320
	few := measure(levels[2], 720)
	few.Completed, few.Failed = 200, 56
	one := measure(levels[0], 10.9)
	one.TPOT, one.PerStream, one.Flush = bench.Dist{}, nil, "HTTP 400 for 15 s"
	n.add(2, false, one, some, few)
	n.reasons[8] = "skipped: the deadline of 07:00 Europe/Prague came first"

	kv := sglang.Cause{Code: "kv-too-small", Class: sglang.Config, Phase: sglang.PhaseKV,
		Line: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: self.server_args.mem_fraction_static=0.97",
		Hint: "lower mem-fraction-static or context-length, or use more GPUs"}
	for _, o := range []int{3, 9} {
		n.runs[o] = failedAs(*n.add(o, false), kv, "exit 1", "")
	}

	port := sglang.Cause{Code: "port-in-use", Class: sglang.Transient, Phase: sglang.PhaseHTTP, Line: "OSError: [Errno 98] Address already in use"}
	crash := sglang.Cause{Code: "illegal-memory-access", Class: sglang.Serving, Line: "CUDA error: an illegal memory access was encountered", Hint: "run it once with CUDA_LAUNCH_BLOCKING=1"}
	gone := measure(levels[2], 90)
	gone.Ended, gone.Attempt, gone.Issued, gone.Completed, gone.Failed = bench.ServerGone, 2, 256, 12, 244
	died := *n.add(4, false, measure(levels[0], 5.21), measure(levels[1], 214), gone)
	died = failedAs(died, port, "exit 1", "")
	second := died.Records[0]
	second.Attempt = 2
	died.Records = append(died.Records, second)
	for i := range died.Measurements {
		died.Measurements[i].Attempt = 2
	}
	n.runs[4] = failedAs(died, crash, "SIGABRT", levels[2].Key())

	cut := n.add(5, false, measure(levels[0], 5.3), measure(levels[1], 230))
	cut.Records[0].Status = sweep.StatusInterrupted
	n.runs[5] = *cut
	for _, o := range []int{6, 10, 11, 12} {
		n.reasons[o] = "the night was interrupted before it was reached"
	}
	in := n.input("20261201-221500-glm5")
	in.Warnings = []string{"runs/c9/20261130T010101.000-aaaa/attempt-1/record.json was written by a newer sweep (schema 2, this one reads 1); it is left out: use that sweep"}
	return in
}

const hostile = "\x1b[2J\x1b]0;owned\x07evil|<script>alert(1)</script>`x`\u202e**\n\n# 東京\x00"

// hostileNight has text that wants to leave its place.
func hostileNight() Input {
	n := newNight(labelled("c1", "name", hostile, "axis|"+hostile, "1"), labelled("c2", "name", "plain", "axis|"+hostile, "1"), labelled("c3", "name", hostile+"2", "axis|"+hostile, "1"))
	for o := 1; o <= 2; o++ {
		m := measure(levels[0], float64(10+o))
		m.Completed, m.Failed, m.Errors = 7, 1, map[string]int{hostile: 1}
		run := n.add(o, false, m)
		run.Records[0].Fingerprint.Host.Hostname = hostile
		run.Records[0].Fingerprint.Server.Version = hostile
		n.runs[o] = *run
	}
	failed := failedAs(*n.add(3, false), sglang.Cause{Code: hostile, Phase: "kv-cache", Line: hostile, Hint: hostile}, hostile, "")
	failed.Records[0].Fingerprint = n.runs[1].Records[0].Fingerprint
	n.runs[3] = failed
	n.reasons[4] = hostile
	in := n.input(hostile)
	in.Warnings = []string{hostile}
	return in
}

// shownRun is a run with two attempts for `sweep show`.
func shownRun() (sweep.Run, []verdict.Finding) {
	c := labelled("c0123456789", "parallel", "tp8", "cuda-graph", "off")
	c.Env = []matrix.Setting{
		{Target: matrix.Env, Name: "NCCL_P2P_LEVEL", Value: matrix.Value{Kind: matrix.Word, Words: []string{"SYS"}}},
		{Target: matrix.Env, Name: "HF_HUB_OFFLINE", Value: matrix.Value{Kind: matrix.Omit}},
	}
	m := measure(levels[1], 417)
	m.Completed, m.Failed, m.Errors = 319, 1, map[string]int{hostile: 1}
	m.Steady = &bench.Steady{Seconds: 61.2, OutputTokens: 26000, OutputThroughput: ptr(424.8)}
	m.SLO, m.Goodput, m.GoodputShare, m.TTFTText = bench.SLO{TTFT: 250 * time.Millisecond, TPOT: 200 * time.Millisecond}, ptr(3.1), ptr(0.952), m.TTFT
	m.Attempt = 2
	gone := measure(levels[2], 90)
	gone.Ended, gone.Completed, gone.Failed, gone.CachedTokens, gone.Attempt = bench.ServerGone, 12, 244, ptr(int64(0)), 2
	run := newRun(c, 1, true, m, gone)
	r := &run.Records[0]
	r.Argv = []string{"/opt/venv/bin/python3", "-m", "sglang.launch_server", "--model-path", "lukealonso/GLM-5-NVFP4", "--tp-size", "8",
		"--model-loader-extra-config", `{"num_threads": 16}`, "--served-model-name", "it's\x1b[31m red"}
	r.Ended = ptr(evening.Add(754 * time.Second))
	r.Teardown = &sweep.Teardown{Clean: true, Seconds: 2.31, GPU: "clean"}
	for i, name := range []sglang.PhaseName{sglang.PhaseProcess, sglang.PhaseInit, sglang.PhaseWeights, sglang.PhaseKV, sglang.PhaseHTTP} {
		r.Phases = append(r.Phases, sglang.Phase{Name: name, Started: evening, Seconds: ptr(3.5 * float64(i*i))})
	}
	second := *r
	second.Attempt, second.ReadySeconds = 2, ptr(187.4)
	second.Teardown = &sweep.Teardown{Seconds: 61, Killed: true, Left: []string{"pid 4711 (python3)"}}
	run.Records = append(run.Records, second)
	run = failedAs(run, sglang.Cause{Code: "cuda-oom", Class: sglang.Serving, Line: "torch.OutOfMemoryError: CUDA out of memory. " + hostile, Hint: "lower mem-fraction-static"}, "SIGKILL", levels[2].Key())
	first := &run.Records[0]
	first.Status, first.Phases[4].Seconds = sweep.StatusFailed, nil
	first.Failure = &sweep.Failure{Cause: sglang.Cause{Code: "port-in-use", Class: sglang.Transient, Phase: sglang.PhaseHTTP}, Exit: "exit 1", Excerpt: []string{"OSError: [Errno 98] Address already in use"}}
	return run, verdict.Judge([]sweep.Run{run}, verdict.Limits{})
}
