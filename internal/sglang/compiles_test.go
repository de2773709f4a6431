package sglang

import (
	"strings"
	"testing"
	"time"
)

func TestA09CompilesAreToldByTheLog(t *testing.T) {
	log := []struct {
		line string
		kind CompileKind // "": none
	}{
		{"[2026-12-01 05:00:00 TP0] Running FlashInfer autotune...", Autotune},
		{"[2026-12-01 05:00:01 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=6.10 GB", Capture},
		{"[2026-12-01 05:00:02 TP0] Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2], avail mem=6.1 GB", Capture},
		{"2026-12-01 05:00:03,733 - INFO - flashinfer.jit: Loading JIT ops: cascade", JIT},
		{"2026-12-01 05:00:03,741 - INFO - flashinfer.jit: Finished loading JIT ops: cascade", JIT},
		{"[2026-12-01 05:00:04 TP0] Entering DeepGEMM JIT Pre-Compile session. It may take a long time", JIT},
		{"[2026-12-01 05:00:05 TP0] Try DeepGEMM JIT Compiling for <GEMM_NT_F8F8BF16> N=1", JIT},
		{"[2026-12-01 05:00:06 TP0] Decode batch, #running-req: 1, #token: 41, token usage: 0.00, cuda graph: True, gen throughput (token/s): 1.00, #queue-req: 0", ""},
		{"[2026-12-01 05:00:07] INFO:     127.0.0.1:1 - \"POST /generate HTTP/1.1\" 200 OK", ""},
	}
	r := NewLogReader()
	at := time.Unix(0, 0)
	var want []CompileKind
	for _, l := range log {
		at = at.Add(time.Second)
		r.Feed(at, []byte(l.line+"\n"))
		if l.kind != "" {
			want = append(want, l.kind)
		}
	}
	got := r.Compiles()
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d: %+v", len(got), len(want), got)
	}
	for i, c := range got {
		if c.Kind != want[i] || c.Line == "" || c.At.Before(time.Unix(1, 0)) || strings.Contains(c.Line, "\x1b") {
			t.Errorf("line %d: %+v, want %s", i, c, want[i])
		}
	}
}

func TestCompilesAreBounded(t *testing.T) {
	r := NewLogReader()
	for i := range 3 * maxCompiles {
		r.Feed(time.Unix(int64(i), 0), []byte("flashinfer.jit: Loading JIT ops: k"+strings.Repeat("x", i%7)+"\n"))
	}
	if n := len(r.Compiles()); n != maxCompiles {
		t.Errorf("%d kept, want %d", n, maxCompiles)
	}
}
