package sglang

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What the logs of testdata/logs must be read as: each phase with its seconds
// by the log's stamps, in brackets those that the server states; then code,
// class and phase of the cause, nothing where there is no failure. A phase
// without seconds is where the log ends.
//
// Logs named sim-… were recorded from the simulator, with progress bars, flags
// and equal ranks cut down. All others are written by hand after sglang's
// sources and what users have posted.
const (
	loading  = "process 9, init 5 (2.1), weights"
	pooled   = loading + " 36 (36.12), kv-cache"
	captured = pooled + " 10, graphs"
	tuned    = pooled + " 2, autotune 8, graphs 209 (208), http"
	served   = tuned + " 2, warmup 8, serving"
)

var logs = []struct{ log, phases, cause string }{
	{"good-v0.5.10", served, ""},
	{"good-v0.5.17", pooled + " 2, autotune 8, graphs 209 (120.5), http 2, warmup 8, serving", ""},
	{"good-v0.5.3-single-gpu", "process 9, init 2, weights 28, kv-cache 2, graphs 21 (19.5), http 209, warmup 8, serving", ""},
	{"good-ms-stamps-dp-pp", served, ""},
	{"good-no-graphs", pooled + " 219, http 2, warmup 8, serving", ""},
	{"good-draft-model", captured + " 208 (208), weights 6 (6), kv-cache 2, graphs 3 (3), http 0, warmup 0, serving", ""},
	// Weights end with the last rank, graphs as well; the slowest rank counts.
	{"good-8-ranks-interleaved", "process 9, init 10 (9.5), weights 37 (37), kv-cache 4, graphs 209 (208), http 2, warmup 8, serving", ""},
	{"A15-unknown-flag", "process", "unknown-flag config process"},
	{"A15-unknown-flag-serve", "process", "unknown-flag config process"},
	{"invalid-choice", "process", "invalid-value config process"},
	{"invalid-int", "process", "invalid-value config process"},
	{"ambiguous-option", "process", "ambiguous-flag config process"},
	{"missing-argument", "process", "bad-arguments config process"},
	{"not-installed", "process", "not-installed config process"},
	{"args-combination", "process", "args-combination config process"},
	{"model-missing", "process", "model-missing config process"},
	{"weights-missing", loading, "model-missing config weights"},
	{"weights-damaged", loading, "weights-unreadable config weights"},
	{"disk-full", loading, "disk-full host weights"},
	{"quant-config", loading, "quant-config-missing config weights"},
	{"weight-shape", loading, "weight-shape config weights"},
	{"A20-gpus-busy", "process 9, init", "gpus-busy host init"},
	{"A20-draft-unbalanced", pooled, "draft-memory-unbalanced config kv-cache"},
	{"kv-too-small", pooled, "kv-too-small config kv-cache"},
	{"kv-too-small-v0.5.14", pooled, "kv-too-small config kv-cache"},
	{"oom-at-load", loading, "cuda-oom config weights"},
	{"oom-at-load-old", loading, "cuda-oom config weights"},
	{"oom-at-capture", captured, "cuda-oom config graphs"},
	{"capture-failed", captured, "graph-capture config graphs"},
	{"A18-unsupported-arch", served, "unsupported-kernel serving serving"},
	{"no-kernel-image", pooled, "unsupported-kernel config kv-cache"},
	{"deep-gemm-import", pooled, "unsupported-kernel config kv-cache"},
	{"triton-shared-memory", captured, "shared-memory config graphs"},
	{"nan", served, "nan serving serving"},
	{"illegal-access", served, "illegal-access serving serving"},
	{"nccl-timeout", served, "nccl-timeout serving serving"},
	{"nccl-error", "process 9, init", "nccl-error serving init"},
	{"A21-dev-shm", "process 9, init", "dev-shm-small host init"},
	{"A17-hang-after-init", "process 9, init (2.1)", ""},
	{"watchdog", served, "watchdog serving serving"},
	{"scheduler-crash-unknown", served, "scheduler-crash serving serving"},
	{"child-killed", loading, "child-killed transient weights"},
	{"child-dead-v0.5.9", loading, "child-died transient weights"},
	{"child-crashed-serving", served, "child-killed serving serving"},
	{"port-http", tuned, "port-in-use transient http"},
	{"port-internal", "process", "port-in-use transient process"},
	{"port-dist", "process", "port-in-use transient process"},
	{"warmup-failed", tuned + " 2, warmup", "warmup-failed config warmup"},
	{"kv-overrun-then-nan", served, "nan serving serving"},
	{"driver", "process", "driver-mismatch host process"},
	{"gpu-lost", served, "gpu-lost host serving"},
	{"unknown-exception", "process", "exception config process"},
	{"A23-stale-lock", "process", ""},
	{"dirty-bytes", served, "cuda-oom serving serving"},

	{"sim-A15-unknown-flag-v0.5.6", "process", "unknown-flag config process"},
	{"sim-A17-hang-v0.5.8", "process 0.231, init", ""},
	{"sim-A18-unsupported-arch-v0.5.16", "process 0.116, init 0.021 (0.02), weights 0.12 (0.12), kv-cache 0.021, graphs 0.08 (0.08), http 0, warmup 0.068, serving", "unsupported-kernel serving serving"},
	{"sim-A20-gpus-busy-v0.5.16", "process 0.242, init", "gpus-busy host init"},
	{"sim-A21-dev-shm-v0.5.9", "process 0.249, init", "dev-shm-small host init"},
	{"sim-A26-oom-at-capture-v0.5.10", "process 0.237, init 0.15 (0.15), weights 0.181 (0.18), kv-cache 0.08, graphs", "cuda-oom config graphs"},
	{"sim-B05-watchdog-v0.5.8", "process 0.102, init 0.021 (0.02), weights 0.121, kv-cache 0.035, graphs 0.094 (0.09), http 0, warmup 0.067, serving", "watchdog serving serving"},
	{"sim-ambiguous-v0.5.17", "process", "ambiguous-flag config process"},
	{"sim-child-killed-v0.5.12", "process 0.103, init 0.021 (0.02), weights", "child-killed transient weights"},
	{"sim-child-killed-v0.5.9", "process 0.107, init 0.022 (0.02), weights", "child-died transient weights"},
	{"sim-good-v0.5.12-draft", "process 0.249, init 0.15 (0.15), weights 0.181 (0.18), kv-cache 0.08, graphs 1.04 (1.04), weights 0.019 (0.02), kv-cache 0.016, graphs 0.313 (0.31), http 0, warmup 0.442, serving", ""},
	{"sim-good-v0.5.14-no-graphs", "process 0.107, init 0.022 (0.02), weights 0.12 (0.12), kv-cache 0.021, http 0, warmup 0.073, serving", ""},
	{"sim-good-v0.5.17-dp", "process 0.232, init 0.151 (0.15), weights 0.18 (0.18), kv-cache 0.081, autotune 0.225, graphs 1.04 (1.04), http 0, warmup 0.44, serving", ""},
	{"sim-good-v0.5.6", "process 0.232, init 0.15 (0.15), weights 0.181, kv-cache 0.081, graphs 1.04 (1.04), http 0, warmup 0.44, serving", ""},
	{"sim-good-v0.5.8-tp4-pp2", "process 0.234, init 0.151 (0.15), weights 0.181, kv-cache 0.08, graphs 1.04 (1.04), http 0, warmup 0.454, serving", ""},
	{"sim-kv-too-small-v0.5.17", "process 0.106, init 0.021 (0.02), weights 0.12 (0.12), kv-cache", "kv-too-small config kv-cache"},
	{"sim-retractions-v0.5.14", "process 0.102, init 0.02 (0.02), weights 0.122 (0.12), kv-cache 0.021, graphs 0.081 (0.08), http 0, warmup 0.068, serving", ""},
}

// TestLogs holds what each log must be read as. A log without a row, and a row
// without a log, fail.
func TestLogs(t *testing.T) {
	known := map[string]bool{}
	for _, row := range logs {
		known[row.log] = true
		t.Run(row.log, func(t *testing.T) {
			log := readLog(t, row.log)
			r := NewLogReader()
			since := firstStamp(t, log).Add(-2 * time.Hour) // of a zone two hours ahead, which nothing says
			r.Replay(since, since.Add(time.Hour), log)
			r.End(since.Add(time.Hour))
			if got := timed(r.Phases()); got != row.phases {
				t.Errorf("phases\n     %s\nwant %s", got, row.phases)
			}
			if got := strings.HasSuffix(row.phases, "serving"); got != r.Fired() {
				t.Errorf("Fired is %t", r.Fired())
			}
			c := r.Cause()
			if row.cause == "" {
				if c != nil {
					t.Errorf("a cause in a log without a failure: %+v", *c)
				}
				return
			}
			if c == nil {
				t.Fatal("no cause")
			}
			if got := fmt.Sprintf("%s %s %s", c.Code, c.Class, c.Phase); got != row.cause {
				t.Errorf("cause: %s, want %s", got, row.cause)
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

var anyStamp = regexp.MustCompile(`\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)`)

// firstStamp is when a log begins; t0 where nothing says.
func firstStamp(t *testing.T, log []byte) time.Time {
	t.Helper()
	m := anyStamp.FindSubmatch(log)
	if m == nil {
		return t0
	}
	at, err := time.Parse(stampLayout, string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// timed writes phases as "process 9, init 5 (2.1), weights".
func timed(phases []Phase) string {
	var out []string
	for _, p := range phases {
		text := string(p.Name)
		if p.Seconds != nil {
			text += fmt.Sprintf(" %.3g", *p.Seconds)
		}
		if p.Stated != nil {
			text += fmt.Sprintf(" (%.6g)", *p.Stated)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
