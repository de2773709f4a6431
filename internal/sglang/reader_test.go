package sglang

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
