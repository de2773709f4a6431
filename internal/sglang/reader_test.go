package sglang

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var t0 = time.Date(2026, 8, 7, 1, 0, 1, 0, time.UTC)

func readLog(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "logs", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(log []byte) *LogReader {
	r := NewLogReader()
	r.Feed(t0, log)
	r.End(t0)
	return r
}

// names writes phases as "process init weights".
func names(phases []Phase) string {
	var out []string
	for _, p := range phases {
		out = append(out, string(p.Name))
	}
	return strings.Join(out, " ")
}

const (
	loading  = "process init weights"
	pooled   = loading + " kv-cache"
	captured = pooled + " graphs"
	tuned    = pooled + " autotune graphs http"
	served   = tuned + " warmup serving"
)

// TestLogs holds what each log of testdata/logs must be read as. A log without
// a row, and a row without a log, fail.
func TestLogs(t *testing.T) {
	rows := []struct {
		log, phases, code string
		class             Class
		in                PhaseName
	}{
		{log: "good-v0.5.10", phases: served},
		{log: "good-v0.5.17", phases: served},
		{log: "good-v0.5.3-single-gpu", phases: captured + " http warmup serving"},
		{log: "good-ms-stamps-dp-pp", phases: served},
		{log: "good-no-graphs", phases: pooled + " http warmup serving"},
		{log: "good-draft-model", phases: captured + " weights kv-cache graphs http warmup serving"},
		{log: "good-8-ranks-interleaved", phases: captured + " http warmup serving"},
		{"A15-unknown-flag", "process", "unknown-flag", Config, PhaseProcess},
		{"A15-unknown-flag-serve", "process", "unknown-flag", Config, PhaseProcess},
		{"invalid-choice", "process", "invalid-value", Config, PhaseProcess},
		{"invalid-int", "process", "invalid-value", Config, PhaseProcess},
		{"ambiguous-option", "process", "ambiguous-flag", Config, PhaseProcess},
		{"missing-argument", "process", "bad-arguments", Config, PhaseProcess},
		{"not-installed", "process", "not-installed", Config, PhaseProcess},
		{"args-combination", "process", "args-combination", Config, PhaseProcess},
		{"model-missing", "process", "model-missing", Config, PhaseProcess},
		{"weights-missing", loading, "model-missing", Config, PhaseWeights},
		{"weights-damaged", loading, "weights-unreadable", Config, PhaseWeights},
		{"disk-full", loading, "disk-full", Host, PhaseWeights},
		{"quant-config", loading, "quant-config-missing", Config, PhaseWeights},
		{"weight-shape", loading, "weight-shape", Config, PhaseWeights},
		{"A20-gpus-busy", "process init", "gpus-busy", Host, PhaseInit},
		{"A20-draft-unbalanced", pooled, "draft-memory-unbalanced", Config, PhaseKV},
		{"kv-too-small", pooled, "kv-too-small", Config, PhaseKV},
		{"kv-too-small-v0.5.14", pooled, "kv-too-small", Config, PhaseKV},
		{"oom-at-load", loading, "cuda-oom", Config, PhaseWeights},
		{"oom-at-load-old", loading, "cuda-oom", Config, PhaseWeights},
		{"oom-at-capture", captured, "cuda-oom", Config, PhaseGraphs},
		{"capture-failed", captured, "graph-capture", Config, PhaseGraphs},
		{"A18-unsupported-arch", served, "unsupported-kernel", Serving, PhaseServing},
		{"no-kernel-image", pooled, "unsupported-kernel", Config, PhaseKV},
		{"deep-gemm-import", pooled, "unsupported-kernel", Config, PhaseKV},
		{"triton-shared-memory", captured, "shared-memory", Config, PhaseGraphs},
		{"nan", served, "nan", Serving, PhaseServing},
		{"illegal-access", served, "illegal-access", Serving, PhaseServing},
		{"nccl-timeout", served, "nccl-timeout", Serving, PhaseServing},
		{"nccl-error", "process init", "nccl-error", Serving, PhaseInit},
		{"A21-dev-shm", "process init", "dev-shm-small", Host, PhaseInit},
		{log: "A17-hang-after-init", phases: "process init"},
		{"watchdog", served, "watchdog", Serving, PhaseServing},
		{"scheduler-crash-unknown", served, "scheduler-crash", Serving, PhaseServing},
		{"child-killed", loading, "child-killed", Transient, PhaseWeights},
		{"child-dead-v0.5.9", loading, "child-died", Transient, PhaseWeights},
		{"child-crashed-serving", served, "child-killed", Serving, PhaseServing},
		{"port-http", tuned, "port-in-use", Transient, PhaseHTTP},
		{"port-internal", "process", "port-in-use", Transient, PhaseProcess},
		{"port-dist", "process", "port-in-use", Transient, PhaseProcess},
		{"warmup-failed", tuned + " warmup", "warmup-failed", Config, PhaseWarmup},
		{"kv-overrun-then-nan", served, "nan", Serving, PhaseServing},
		{"driver", "process", "driver-mismatch", Host, PhaseProcess},
		{"gpu-lost", served, "gpu-lost", Host, PhaseServing},
		{"unknown-exception", "process", "exception", Config, PhaseProcess},
		{log: "A23-stale-lock", phases: "process"},
		{"dirty-bytes", served, "cuda-oom", Serving, PhaseServing},
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[row.log] = true
		t.Run(row.log, func(t *testing.T) {
			r := read(readLog(t, row.log))
			if got := names(r.Phases()); got != row.phases {
				t.Errorf("phases: %s, want %s", got, row.phases)
			}
			if got := strings.HasSuffix(row.phases, "serving"); got != r.Fired() {
				t.Errorf("Fired is %t", r.Fired())
			}
			c := r.Cause()
			if row.code == "" {
				if c != nil {
					t.Fatalf("a cause in a log without a failure: %+v", *c)
				}
				return
			}
			if c == nil {
				t.Fatal("no cause")
			}
			if c.Code != row.code || c.Class != row.class || c.Phase != row.in {
				t.Errorf("cause: %s, class %s, in %s; want %s, %s, %s", c.Code, c.Class, c.Phase, row.code, row.class, row.in)
			}
			if c.Hint == "" || c.Line == "" || c.Line != Plain(c.Line) {
				t.Errorf("cause tells too little or unsafely: %+v", *c)
			}
			if excerpt := strings.Join(r.Excerpt(40), "\n"); !strings.Contains(excerpt, c.Line) {
				t.Errorf("the excerpt lacks the line that told, %q:\n%s", c.Line, excerpt)
			}
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "logs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[strings.TrimSuffix(f.Name(), ".log")] {
			t.Errorf("%s has no row", f.Name())
		}
	}
}

// TestCauseLines holds which line is shown where a message has several.
func TestCauseLines(t *testing.T) {
	for log, want := range map[string]string{
		"scheduler-crash-unknown": "KeyError: 'rid-17'",
		"args-combination":        "AssertionError: Overlap schedule is not supported with pp_size > 1",
		"unknown-exception":       "ImportError: cannot import name 'foo' from 'bar'",
		"A15-unknown-flag":        "launch_server.py: error: unrecognized arguments: --reasoning_parser glm45",
		"warmup-failed":           `[2026-08-07 03:04:50] Initialization failed. warmup error: Traceback (most recent call last):`,
	} {
		if got := read(readLog(t, log)).Cause().Line; got != want {
			t.Errorf("%s: %q, want %q", log, got, want)
		}
	}
}

func TestPhaseDurations(t *testing.T) {
	f := func(s float64) *float64 { return &s }
	type times struct{ Seconds, Stated *float64 }
	rows := []struct {
		log  string
		want []times
	}{
		{"good-v0.5.10", []times{{f(9), nil}, {f(5), f(2.1)}, {f(36), f(36.12)}, {f(2), nil}, {f(8), nil}, {f(209), f(208)}, {f(2), nil}, {f(8), nil}, {nil, nil}}},
		{"good-v0.5.17", []times{{f(9), nil}, {f(5), f(2.1)}, {f(36), f(36.12)}, {f(2), nil}, {f(8), nil}, {f(209), f(120.5)}, {f(2), nil}, {f(8), nil}, {nil, nil}}},
		// Weights end with the last rank, graphs as well; the slowest rank counts.
		{"good-8-ranks-interleaved", []times{{f(9), nil}, {f(10), f(9.5)}, {f(37), f(37)}, {f(4), nil}, {f(209), f(208)}, {f(2), nil}, {f(8), nil}, {nil, nil}}},
		{"good-ms-stamps-dp-pp", []times{{f(9), nil}, {f(5), f(2.1)}, {f(36), f(36.12)}, {f(2), nil}, {f(8), nil}, {f(209), f(208)}, {f(2), nil}, {f(8), nil}, {nil, nil}}},
	}
	for _, row := range rows {
		t.Run(row.log, func(t *testing.T) {
			r := NewLogReader()
			// The stamps are of a zone two hours ahead, which nothing says.
			since := t0
			if strings.Contains(row.log, "-ms-") {
				since = since.Add(250 * time.Millisecond)
			}
			r.Replay(since, t0.Add(time.Hour), readLog(t, row.log))
			var got []times
			for _, p := range r.Phases() {
				got = append(got, times{p.Seconds, p.Stated})
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPhasesByOurClock: durations are of the reader's clock, not the log's.
func TestPhasesByOurClock(t *testing.T) {
	r := NewLogReader()
	r.Feed(t0, nil)
	r.Feed(t0.Add(3*time.Second), []byte("[2026-08-07 09:59:59 TP0] Init torch distributed begin.\n"))
	r.Feed(t0.Add(2*time.Second), []byte("[2026-08-07 10:00:00 TP0] Load weight begin. avail mem=1 GB\n")) // a clock that went back
	r.Feed(t0.Add(8*time.Second), []byte("[2026-08-07 10:00:01 TP0] Load weight end. avail mem=1 GB\n"))
	var got []string
	for _, p := range r.Phases() {
		seconds := "lasts"
		if p.Seconds != nil {
			seconds = fmt.Sprint(*p.Seconds)
		}
		got = append(got, string(p.Name)+" "+seconds)
	}
	if want := []string{"process 3", "init 0", "weights 5", "kv-cache lasts"}; !cmp.Equal(want, got) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProgress(t *testing.T) {
	r := NewLogReader()
	step := func(chunk string, phase PhaseName, want string) {
		t.Helper()
		r.Feed(t0, []byte(chunk))
		name, p := r.Current()
		got := "null"
		if p != nil {
			got = fmt.Sprintf("%.2f", *p)
		}
		if name != phase || got != want {
			t.Errorf("after %q: %s %s, want %s %s", chunk, name, got, phase, want)
		}
	}
	step("", PhaseProcess, "null")
	step("[2026-08-07 03:00:15 TP0] Load weight begin. avail mem=94.05 GB\n", PhaseWeights, "null")
	step("\rLoading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]", PhaseWeights, "0.00")
	step("\rLoading safetensors checkpoint shards:  25% Comp", PhaseWeights, "0.00")
	step("leted | 1/4 [00:09<00:27,  9.00s/it]", PhaseWeights, "0.25")
	step("\rMulti-thread loading shards:  75% Completed | 3/4 [00:27<00:09,  9.00s/it]\n", PhaseWeights, "0.75")
	step("[2026-08-07 03:00:51 TP0] Load weight end. avail mem=1 GB\n", PhaseKV, "null")
	step("[2026-08-07 03:00:52 TP0] Capture cuda graph begin. avail mem=1 GB\n", PhaseGraphs, "null")
	// A message behind a bar, on the bar's line.
	step("\rCapturing batches (bs=8 avail_mem=6.20 GB):  50%|█████     | 2/4 [00:01<00:01][2026-08-07 03:00:55 TP0] something\n", PhaseGraphs, "0.50")
	step("[2026-08-07 03:00:56 TP0] max_total_num_tokens=1000, max_running_requests=8\n", PhaseHTTP, "null")
}

// TestChunks: what is read does not depend on how the bytes come.
func TestChunks(t *testing.T) {
	for _, log := range []string{"good-v0.5.10", "oom-at-capture", "dirty-bytes", "kv-overrun-then-nan"} {
		data := readLog(t, log)
		whole := describe(read(data))
		for _, size := range []int{1, 2, 3, 7, 64} {
			r := NewLogReader()
			for i := 0; i < len(data); i += size {
				r.Feed(t0, data[i:min(i+size, len(data))])
			}
			r.End(t0)
			if diff := cmp.Diff(whole, describe(r)); diff != "" {
				t.Errorf("%s in chunks of %d: %s", log, size, diff)
			}
		}
	}
}

// describe writes everything a reader tells.
func describe(r *LogReader) string {
	name, progress := r.Current()
	out, err := json.MarshalIndent(map[string]any{"phases": r.Phases(), "phase": name, "progress": progress, "cause": r.Cause(),
		"batches": r.Batches(), "excerpt": r.Excerpt(40), "last": r.Last(), "fired": r.Fired()}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestBoundedMemory: an endless line and endless bars cost a bounded buffer,
// and what follows is still read.
func TestBoundedMemory(t *testing.T) {
	r := NewLogReader()
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 16 {
		r.Feed(t0, chunk)
	}
	if n := cap(r.split.buf); n > 4*maxLine {
		t.Errorf("%d bytes are buffered", n)
	}
	r.Feed(t0, []byte("\n[2026-08-07 03:00:15 TP0] Load weight begin. avail mem=94.05 GB\n"))
	if name, _ := r.Current(); name != PhaseWeights {
		t.Errorf("phase %s after a long line", name)
	}
	for i := range 3000 { // ranks that no server has
		r.Feed(t0, fmt.Appendf(nil, "[2026-08-07 03:00:15 TP%d] Load weight begin.\n[2026-08-07 03:00:16 DP%d TP1] Decode batch, #running-req: 1, #queue-req: 0\n", i, i))
	}
	if n := len(r.phases.begun); n > maxRanks+1 {
		t.Errorf("%d ranks are told apart", n)
	}
	if n := len(r.batches.lead); n > maxRanks {
		t.Errorf("%d data-parallel ranks are told apart", n)
	}
}

func FuzzLogReader(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "logs", "*.log"))
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		whole := read(data)
		parts := NewLogReader()
		for rest := data; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			parts.Feed(t0, rest[:n])
			rest = rest[n:]
		}
		parts.End(t0)
		if len(data) == 0 {
			return
		}
		if a, b := describe(whole), describe(parts); a != b {
			t.Errorf("chunks of %d read differently:\n%s\n%s", size, a, b)
		}
		for _, s := range append(whole.Excerpt(20), whole.Last()) {
			if s != Plain(s) || len(s) > maxKept+200 {
				t.Errorf("unsafe or long line %q", s)
			}
		}
		if n := len(whole.Excerpt(20)); n > 20 {
			t.Errorf("excerpt of %d lines", n)
		}
	})
}
