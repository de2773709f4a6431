package sglang

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// a26Log is 5,000 lines of eight ranks: one CUDA error in rank 3 in the middle,
// then eight watchdog lines, then the parent's word.
func a26Log() string {
	var b strings.Builder
	stamp := func(i int) string { return t0.Add(time.Duration(i) * time.Second).Format(stampLayout) }
	for i := range 5000 {
		switch {
		case i == 2000:
			fmt.Fprintf(&b, "[%s TP3] Scheduler hit an exception: Traceback (most recent call last):\n", stamp(i))
			for f := range 12 {
				fmt.Fprintf(&b, "  File \"/sgl/srt/f%d.py\", line %d, in run\n    self.step()\n", f, f)
			}
			b.WriteString("torch.AcceleratorError: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported.\n\n")
		case i >= 4980 && i < 4988:
			fmt.Fprintf(&b, "[rank%d]:[E ProcessGroupNCCL.cpp:685] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d)\n", i-4980, i-4980, i)
		case i == 4999:
			fmt.Fprintf(&b, "[%s] Received sigquit from a child process. It usually means the child failed.\n", stamp(i))
		default:
			fmt.Fprintf(&b, "[%s TP%d] Decode batch, #running-req: 8, #token: %d, token usage: 0.04, cuda graph: True, gen throughput (token/s): 841.02, #queue-req: 0\n", stamp(i), i%8, i)
		}
	}
	return b.String()
}

func TestA26FirstFatalLineOfEachRank(t *testing.T) {
	r := read([]byte(a26Log()))
	if c := r.Cause(); c == nil || c.Code != "illegal-access" {
		t.Fatalf("cause %+v", c)
	}
	for _, n := range []int{40, 20, 12} {
		got := r.Excerpt(n)
		text := strings.Join(got, "\n")
		if len(got) > n {
			t.Errorf("%d lines, asked for at most %d", len(got), n)
		}
		inOrder := []string{"TP3] Scheduler hit an exception", "illegal memory access", "[rank0]:", "(the same on rank 1, rank 2, rank 3", "…", "Received sigquit"}
		at := 0
		for _, want := range inOrder {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Fatalf("Excerpt(%d) lacks %q after byte %d:\n%s", n, want, at, text)
			}
			at += i
		}
	}
	if full := strings.Join(r.Excerpt(40), "\n"); !strings.Contains(full, "f11.py") || strings.Contains(full, "f1.py") {
		t.Errorf("of a traceback only the end is kept:\n%s", full)
	}
	if n := r.Excerpt(0); n != nil {
		t.Errorf("Excerpt(0) is %v", n)
	}
}

// TestExcerptOfEqualRanks: eight ranks that fail alike are told once.
func TestExcerptOfEqualRanks(t *testing.T) {
	var log strings.Builder
	for i := range 8 {
		fmt.Fprintf(&log, "[2026-08-07 03:00:1%d TP%d] Scheduler hit an exception: Traceback (most recent call last):\n  File \"x.py\", line 7\nRuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: 0.%d\n\n", i, i, i)
	}
	text := strings.Join(read([]byte(log.String())).Excerpt(12), "\n")
	if !strings.Contains(text, "(the same on TP1, TP2, TP3, TP4, TP5, TP6, TP7)") {
		t.Errorf("ranks that say the same are not told together:\n%s", text)
	}
	if n := strings.Count(text, "TP3] Scheduler hit"); n > 1 {
		t.Errorf("a line stands %d times:\n%s", n, text)
	}
}

// TestExcerptWithoutFailure is the plain tail.
func TestExcerptWithoutFailure(t *testing.T) {
	got := read([]byte("one\ntwo\rthree\r\nfour")).Excerpt(3)
	if text := strings.Join(got, "|"); text != "two|three|four" {
		t.Errorf("got %s", text)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"as it is":                         "as it is",
		"\x1b[31mred\x1b[0m":               "red",
		"\x1b]0;title\x07shown":            "shown",
		"\x1b]8;;http://evil\x1b\\link":    "link",
		"tab\there\r\nand\x00there\u2028x": "tab hereandtherex",
		"\xff\xfe":                         "\uFFFD",
		"user\u202etxt.exe\u2066":          "usertxt.exe",
		"\u009b31mred":                     "31mred",
		"█ progress é":                     "█ progress é",
		"\x1b":                             "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
