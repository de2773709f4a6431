package sweep

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hundredThousand is a sweep file of five axes of ten values, three of them
// labelled, with two conditions, over a server with as many flags as a real one.
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
  chunked-prefill-size: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
`)
	for axis := range 3 {
		fmt.Fprintf(&b, "  axis%d:\n", axis)
		for v := range 10 {
			fmt.Fprintf(&b, "    v%d: {flag-a%d: %d, flag-b%d: x%d, env: {VAR%d: \"%d\"}}\n", v, axis, v, axis, v, axis, v)
		}
	}
	b.WriteString(`exclude:
  - {axis0: v1, axis1: v1}
  - when: 'flags["max-running-requests"] > 9 && axis.axis2 == "v3" && env["VAR0"] == "5"'
  - when: 'flags["flag-a1"] * flags["max-running-requests"] + flags["flag-a0"] > 88 && axis.axis2 in ["v1", "v2"]'
bench:
  workloads: {short: {input-len: 256, output-len: 128}}
  levels: [{concurrency: [1, 256]}]
`)
	return []byte(b.String())
}

// BenchmarkPlan100k decodes and plans 100,000 combinations. MB-peak is the most
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
