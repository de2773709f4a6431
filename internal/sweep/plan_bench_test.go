package sweep

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"sweep/internal/sglang"
)

// hundredThousand is a sweep file of five axes of ten values, three of them
// labelled, with two conditions, over a server with as many flags as a real one;
// some of its flags are worth a warning, none is wrong.
func hundredThousand() []byte {
	var b strings.Builder
	b.WriteString(`name: large
server:
  command: [/opt/venv/bin/python3, -m, sglang.launch_server]
  env: {PATH: "/opt/venv/bin:/usr/bin:/bin", CUDA_HOME: /usr/local/cuda, NCCL_IB_DISABLE: "1"}
  flags:
    model-path: lukealonso/GLM-5-NVFP4
    quantization: modelopt_fp4
    kv-cache-dtype: bf16
    attention-backend: flashinfer
    moe-runner-backend: flashinfer_cutlass
    disable-custom-all-reduce: true
    trust-remote-code: true
    enable-metrics: true
    random-seed: 1
    tp-size: 8
    model-loader-extra-config: {enable_multithread_load: true, num_threads: 16}
matrix:
  max-running-requests: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  chunked-prefill-size: [64, 128, 192, 256, 320, 384, 448, 512, 576, 640]
`)
	for axis, flags := range [][2]string{{"stream-interval", "max-prefill-tokens"}, {"num-continuous-decode-steps", "watchdog-timeout"}, {"schedule-conservativeness", "cuda-graph-max-bs"}} {
		fmt.Fprintf(&b, "  axis%d:\n", axis)
		for v := range 10 {
			fmt.Fprintf(&b, "    v%d: {%s: %d, %s: %d, env: {VAR%d: \"%d\"}}\n", v, flags[0], v+1, flags[1], 64*(v+1), axis, v)
		}
	}
	b.WriteString(`exclude:
  - {axis0: v1, axis1: v1}
  - when: 'flags["max-running-requests"] > 9 && axis.axis2 == "v3" && env["VAR0"] == "5"'
  - when: 'flags["num-continuous-decode-steps"] * flags["max-running-requests"] + flags["stream-interval"] > 88 && axis.axis2 in ["v1", "v2"]'
bench:
  workloads: {short: {input-len: 256, output-len: 128}}
  levels: [{concurrency: [1, 256]}]
`)
	return []byte(b.String())
}

// BenchmarkPlan100k decodes and plans 100,000 combinations and judges their flags. MB-peak is the most
// memory that Go took from the system; with -benchtime 1x it is that of one
// plan, otherwise the last plan's garbage is in it.
func BenchmarkPlan100k(b *testing.B) {
	data := hundredThousand()
	b.ReportAllocs()
	for b.Loop() {
		plan100k(b, data)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-peak")
}

func plan100k(tb testing.TB, data []byte) *Plan {
	spec, err := Decode("large.yaml", data)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{MaxConfigs: 100_000})
	if err != nil {
		tb.Fatal(err)
	}
	if got := len(plan.Configurations) + len(plan.Dropped); got != 100_000 {
		tb.Fatalf("%d combinations, want 100000", got)
	}
	list, _ := sglang.Flags("0.5.17")
	report := CheckFlags(plan, list, FlagCheck{GPUs: 8})
	if len(report.Errors) > 0 || len(report.Warnings) < 10 {
		tb.Fatalf("%d errors, %d warnings: the flags were not judged as they should be", len(report.Errors), len(report.Warnings))
	}
	if groups := InertGroups(plan, list); len(groups) > 0 {
		tb.Fatalf("%d groups of configurations that do the same", len(groups))
	}
	return plan
}

// TestPlan100k holds the memory bound, which does not depend on the machine,
// and a time bound with room for a crowded one. The race detector multiplies
// both and finds nothing here: planning is one goroutine.
func TestPlan100k(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("plans 100,000 configurations")
	}
	data := hundredThousand()
	start := time.Now()
	plan := plan100k(t, data)
	took := time.Since(start)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if live := m.HeapAlloc; live > 400e6 {
		t.Errorf("the plan holds %d MB, want at most 400", live/1e6)
	}
	if took > 20*time.Second {
		t.Errorf("planning took %s", took)
	}
	runtime.KeepAlive(plan)
}
