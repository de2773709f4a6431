package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/bench"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func ptr[T any](v T) *T { return &v }

func dist(n int, ms float64) bench.Dist {
	return bench.Dist{N: n, Mean: &ms, Std: ptr(0.0), P50: &ms, P90: &ms, P95: &ms, P99: &ms, Max: &ms}
}

// sound is a level that no rule may say anything about: 320 requests of
// 256/128 tokens in ten seconds.
func sound() bench.Measurement {
	return bench.Measurement{
		Schema: 1, Key: "k", Attempt: 1, Tool: "native", Window: 10, Ended: bench.Complete,
		Level: bench.Level{Mode: bench.Closed, Concurrency: 64, Prompts: 320},
		Asked: 320, Issued: 320, Completed: 320,
		AskedInputTokens: 81920, AskedOutputTokens: 40960, InputTokens: ptr(int64(81920)), Mismatch: ptr(0), OutputTokens: 40960, CachedTokens: ptr(int64(0)),
		OutputThroughput: ptr(4096.0), InputThroughput: ptr(8192.0), TotalThroughput: ptr(12288.0), PeakOutputThroughput: ptr(4200.0),
		TTFT: dist(320, 150), TPOT: dist(320, 15), E2E: dist(320, 2000), ITL: dist(40640, 15), ChunkGap: dist(40640, 15),
		Steady: &bench.Steady{Seconds: 9.5, OutputTokens: 39900, OutputThroughput: ptr(4200.0)},
		Client: bench.Client{CPUSeconds: ptr(4.0), CPUShare: ptr(0.2), SlotShare: ptr(0.99)}, Flush: "flushed",
	}
}

func runOf(m bench.Measurement, records ...sweep.Record) sweep.Run {
	if records == nil {
		records = []sweep.Record{{Attempt: 1}}
	}
	return sweep.Run{ID: "c1", Name: "r1", Records: records, Measurements: []bench.Measurement{m}}
}

func simulatedRecord(yes bool) sweep.Record {
	return sweep.Record{Attempt: 1, Fingerprint: sweep.Fingerprint{Server: &sglang.Resolved{Simulated: yes}}}
}

// within starts a sound level at a known moment.
func within(m *bench.Measurement) { m.Started = time.Unix(1000, 0) }

// compiledAt is the record of a server that compiled a kernel so long after
// the start of the window of within.
func compiledAt(after time.Duration) []sweep.Record {
	return []sweep.Record{{Attempt: 1, Compiles: []sglang.Compile{{At: time.Unix(1000, 0).Add(after), Kind: sglang.JIT, Line: "flashinfer.jit: Loading JIT ops: x"}}}}
}

func diedAt(attempt int, level string) sweep.Record {
	return sweep.Record{Attempt: attempt, Failure: &sweep.Failure{Cause: sglang.Cause{Code: "cuda-oom"}, Exit: "SIGKILL", Level: level}}
}

// cases: what is done to a sound level, which rule must fire with which grade
// (none: nothing may fire at all), and what a person must be able to read.
var cases = []struct {
	name    string
	change  func(*bench.Measurement)
	records []sweep.Record
	code    string
	grade   Grade
	seen    string
}{
	{name: "a sound level"},
	{name: "a level that knows little", change: func(m *bench.Measurement) {
		*m = bench.Measurement{Key: "k", Attempt: 1, Ended: bench.Complete, Asked: 4, Issued: 4, Completed: 4}
	}},
	{name: "its record is lost", records: []sweep.Record{}},
	{name: "it was never ready and says nothing", records: []sweep.Record{{Attempt: 1}}},
	{name: "A09 it compiled inside the window", change: within, records: compiledAt(time.Second), code: "cold", grade: Suspect, seen: "first: flashinfer.jit: Loading JIT ops: x"},
	{name: "it compiled before the window", change: within, records: compiledAt(-time.Second)},
	{name: "it compiled after the window", change: within, records: compiledAt(time.Hour)},
	{name: "A13 it served and does not say what it is", records: []sweep.Record{{Attempt: 1, ReadySeconds: new(float64)}},
		code: "not-identified", grade: Suspect, seen: "attempt 1 served"},

	{name: "1 of 320 failed", change: failed(1), code: "requests-failed", grade: Suspect, seen: "1 of 320 requests failed (0.312 %)"},
	{name: "B12 half of the requests failed", change: failed(160), code: "requests-failed", grade: Invalid, seen: "(50 %)"},
	{name: "the errors are named", change: func(m *bench.Measurement) {
		failed(9)(m)
		m.Errors = map[string]int{"HTTP 503": 6, "reset": 2, "eof": 1}
	}, code: "requests-failed", grade: Invalid, seen: ": 6× HTTP 503, 2× reset, 1 other kinds"},
	{name: "C13 failures that the tool did not count", change: func(m *bench.Measurement) {
		failed(32)(m)
		m.Failed = 0
	}, code: "requests-failed", grade: Invalid, seen: "32 of 320"},
	{name: "C09 nothing completed", change: func(m *bench.Measurement) {
		*m = bench.Measurement{Key: "k", Attempt: 1, Ended: bench.Complete, Asked: 4, Issued: 4, Failed: 4}
	}, code: "requests-failed", grade: Invalid, seen: "4 of 4"},
	{name: "nothing was sent", change: func(m *bench.Measurement) {
		*m = bench.Measurement{Key: "k", Attempt: 1, Ended: bench.AtMaxLevel, Asked: 4}
	}, code: "requests-failed", grade: Invalid, seen: "none of the 4"},

	{name: "one error in a stream", change: func(m *bench.Measurement) { m.InStream = 1 }, code: "error-in-stream", grade: Suspect, seen: "1 of 320"},
	{name: "many errors in streams", change: func(m *bench.Measurement) { m.InStream = 4 }, code: "error-in-stream", grade: Invalid, seen: "4 of 320"},

	{name: "one answer too short", change: func(m *bench.Measurement) { m.Short = 1 }, code: "tokens-short", grade: Suspect, seen: "1 of 320"},
	{name: "C24 answers stop early", change: func(m *bench.Measurement) { m.Short = 320 }, code: "tokens-short", grade: Invalid, seen: "(100 %)"},

	{name: "the server is gone", change: func(m *bench.Measurement) { m.Ended = bench.ServerGone }, code: "server-died", grade: Invalid, seen: "320 of 320"},
	{name: "the record says that it died here", records: []sweep.Record{diedAt(1, "k")}, code: "server-died", grade: Invalid, seen: "cuda-oom, SIGKILL"},
	{name: "it died under a later level", records: []sweep.Record{diedAt(1, "other")}},
	{name: "another attempt died here", records: []sweep.Record{{Attempt: 1}, diedAt(2, "k")}},

	{name: "no token for long", change: func(m *bench.Measurement) { m.Ended = bench.Stalled }, code: "stalled", grade: Invalid, seen: "no token"},
	{name: "stopped by a person", change: func(m *bench.Measurement) { m.Ended = bench.Interrupted }, code: "interrupted", grade: Invalid},
	{name: "max-level is a good end", change: func(m *bench.Measurement) {
		m.Ended, m.Asked, m.MaxLevel = bench.AtMaxLevel, 640, 10*time.Minute
	}, code: "max-level", grade: Note, seen: "max-level of 10m0s after 320 of 640 prompts: its output tok/s are those of the steady state, 9.5 s"},
	{name: "max-level with requests cut off", change: func(m *bench.Measurement) {
		m.Ended, m.Asked, m.Issued, m.Cut = bench.AtMaxLevel, 640, 324, 4
	}, code: "max-level", grade: Note, seen: "max-level after 324 of 640 prompts, 4 of them cut off in flight"},
	{name: "max-level before the slots were filled", change: func(m *bench.Measurement) {
		m.Ended, m.Asked, m.Steady = bench.AtMaxLevel, 640, nil
	}, code: "max-level", grade: Suspect, seen: "without a steady state"},
	{name: "max-level, and the steady state cannot be counted", change: func(m *bench.Measurement) {
		m.Ended, m.Asked, m.Steady = bench.AtMaxLevel, 640, &bench.Steady{Seconds: 9.5}
	}, code: "max-level", grade: Suspect, seen: "no output tok/s to compare"},
	{name: "a max-level that was not reached", change: func(m *bench.Measurement) { m.MaxLevel, m.Steady = time.Minute, nil }},

	{name: "C25 other prompt lengths", change: func(m *bench.Measurement) { m.AskedInputTokens, m.Mismatch = 81900, ptr(10) }, code: "input-mismatch", grade: Suspect,
		seen: "in 10 of 320 completed requests: 81920 input tokens in these, 81900 drawn for all 320 prompts"},
	{name: "C25 other lengths, the same total", change: func(m *bench.Measurement) { m.Mismatch = ptr(2) }, code: "input-mismatch", grade: Suspect, seen: "in 2 of 320"},
	{name: "C25 also where the level was not answered in full", change: func(m *bench.Measurement) {
		m.Ended, m.Asked, m.Mismatch = bench.AtMaxLevel, 640, ptr(1)
		m.InputTokens, m.InputThroughput, m.TotalThroughput, m.CachedTokens = nil, nil, nil, nil
	}, code: "input-mismatch", grade: Suspect, seen: "in 1 of 320 completed requests: n/a input tokens"},
	{name: "prompt lengths are unknown", change: func(m *bench.Measurement) {
		m.InputTokens, m.Mismatch, m.InputThroughput, m.TotalThroughput = nil, nil, nil, nil
	}},
	{name: "the tokens of a text are the server's", change: func(m *bench.Measurement) {
		m.AskedInputTokens, m.Level.Workload.Text, m.Mismatch = 0, "prompts.jsonl", ptr(320)
	}},

	{name: "C06 the prefix cache answered", change: func(m *bench.Measurement) { m.CachedTokens = ptr(int64(8192)) }, code: "cache-hit", grade: Suspect, seen: "(10 %)"},
	{name: "a trace of cache", change: func(m *bench.Measurement) { m.CachedTokens = ptr(int64(800)) }},
	{name: "bench_serving's own warm-up", change: func(m *bench.Measurement) { m.Tool, m.CachedTokens = "bench_serving", ptr(int64(4000)) }},
	{name: "cache is unknown", change: func(m *bench.Measurement) { m.CachedTokens = nil }},

	{name: "C28 total is not the sum", change: func(m *bench.Measurement) { m.TotalThroughput = ptr(9 * 4096.0) }, code: "arithmetic", grade: Invalid, seen: "total tok/s is not"},
	{name: "C04 peak below the mean", change: func(m *bench.Measurement) { m.PeakOutputThroughput = ptr(1110.0) }, code: "arithmetic", grade: Invalid, seen: "best second"},
	{name: "C03 several tokens in a chunk say nothing of the peak", change: func(m *bench.Measurement) {
		m.PeakOutputThroughput, m.ChunkGap.N = ptr(1110.0), 10000
	}},
	{name: "a short window says nothing of the peak", change: func(m *bench.Measurement) {
		m.Window, m.OutputTokens, m.InputTokens, m.AskedInputTokens = 4, 16384, ptr(int64(32768)), 32768
		m.PeakOutputThroughput = ptr(1110.0)
	}},
	{name: "another window than it says", change: func(m *bench.Measurement) { m.Window = 11 }, code: "arithmetic", grade: Invalid, seen: "over a window of 11 s"},
	{name: "other input tokens than it says", change: func(m *bench.Measurement) { m.InputTokens = ptr(int64(0)) }, code: "arithmetic", grade: Invalid, seen: "not the 0 input tokens"},
	{name: "input tokens are unknown", change: func(m *bench.Measurement) { m.InputTokens = nil }},
	{name: "within one percent", change: func(m *bench.Measurement) { m.Window = 10.05 }},
	{name: "C01 a negative latency", change: func(m *bench.Measurement) { m.TPOT.Mean = ptr(-1.0) }, code: "arithmetic", grade: Invalid, seen: "tpot mean is -1"},
	{name: "C10 not a number", change: func(m *bench.Measurement) { m.E2E.P99 = ptr(math.NaN()) }, code: "arithmetic", grade: Invalid, seen: "e2e p99 is NaN"},
	{name: "not a number in steady state", change: func(m *bench.Measurement) { m.Steady.OutputThroughput = ptr(math.NaN()) }, code: "arithmetic", grade: Invalid, seen: "steady state is NaN"},
	{name: "infinite", change: func(m *bench.Measurement) { m.RequestThroughput = ptr(math.Inf(1)) }, code: "arithmetic", grade: Invalid, seen: "+Inf"},
	{name: "counts that do not close", change: func(m *bench.Measurement) { m.Failed = 5 }, code: "arithmetic", grade: Invalid, seen: "do not add up"},
	{name: "complete and yet not", change: func(m *bench.Measurement) { m.Asked = 400 }, code: "arithmetic", grade: Invalid, seen: "320 of 400"},

	{name: "C15 the client kept slots empty", change: func(m *bench.Measurement) { m.Client.SlotShare = ptr(0.6) }, code: "client-slots", grade: Suspect, seen: "60 % of its 64 slots"},
	{name: "a burst empties its slots", change: func(m *bench.Measurement) { m.Client.SlotShare, m.Level.Mode = ptr(0.6), bench.Burst }},
	{name: "C16 the client was busy", change: func(m *bench.Measurement) { m.Client.CPUShare = ptr(0.9) }, code: "client-bound", grade: Suspect, seen: "90 %"},

	{name: "the cache was not flushed", change: func(m *bench.Measurement) { m.Flush = "HTTP 400 for 15 s" }, code: "flush-failed", grade: Note, seen: "HTTP 400"},
	{name: "no cache to flush", change: func(m *bench.Measurement) { m.Flush = "skipped: the radix cache is off" }},
	{name: "flush is unknown", change: func(m *bench.Measurement) { m.Flush = "" }},

	{name: "a simulated server", records: []sweep.Record{simulatedRecord(true)}, code: "simulated", grade: Note, seen: "simulated server"},
	{name: "a real server", records: []sweep.Record{simulatedRecord(false)}},
}

func failed(n int) func(*bench.Measurement) {
	return func(m *bench.Measurement) {
		m.Completed, m.Failed = m.Issued-n, n
	}
}

func TestRules(t *testing.T) {
	fired := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := sound()
			if c.change != nil {
				c.change(&m)
			}
			findings := Judge([]sweep.Run{runOf(m, c.records...)}, Limits{})
			if c.code == "" {
				if len(findings) != 0 {
					t.Errorf("fired on a sound level: %+v", findings)
				}
				return
			}
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == c.code })
			if i < 0 {
				t.Fatalf("%s did not fire: %+v", c.code, findings)
			}
			fired[c.code] = true
			f := findings[i]
			if f.Grade != c.grade || !strings.Contains(f.Seen, c.seen) || f.Limit == "" || f.Run != "r1" {
				t.Errorf("got %+v, want %s with %q", f, c.grade, c.seen)
			}
			for _, other := range findings {
				if other.Code != c.code && other.Code != "arithmetic" && other.Grade != Note {
					t.Errorf("%s fired as well: %+v", other.Code, other)
				}
			}
		})
	}
	for _, r := range levelRules {
		if !fired[r.code] {
			t.Errorf("no case makes %s fire", r.code)
		}
	}
	for _, r := range runRules {
		if !fired[r.code] {
			t.Errorf("no case makes %s fire", r.code)
		}
	}
}

func TestLimitsCanBeChanged(t *testing.T) {
	m := sound()
	failed(10)(&m)
	m.Short, m.CachedTokens, m.TotalThroughput = 10, ptr(int64(8192)), ptr(13000.0)
	m.Client.SlotShare, m.Client.CPUShare = ptr(0.9), ptr(0.95)
	runs := []sweep.Run{runOf(m)}
	if v := Of(Judge(runs, Limits{}), "r1", "k"); v != IsInvalid {
		t.Errorf("by default: %s", v)
	}
	wide := Limits{FailedShare: 0.1, ShortShare: 0.1, Arithmetic: 0.1, CachedShare: 0.2, SlotShare: 0.8, ClientCPU: 1}
	var codes []string
	for _, f := range Judge(runs, wide) {
		codes = append(codes, f.Code+"/"+string(f.Grade))
	}
	if diff := cmp.Diff([]string{"requests-failed/suspect", "tokens-short/suspect"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestOfTakesTheWorst(t *testing.T) {
	findings := []Finding{
		{Run: "r1", Key: "a", Grade: Note}, {Run: "r1", Key: "b", Grade: Suspect}, {Run: "r1", Key: "c", Grade: Invalid},
		{Run: "r2", Grade: Suspect}, {Run: "r2", Key: "a", Grade: Note}, {Run: "r3", Grade: Invalid},
	}
	for _, c := range []struct {
		run, key string
		want     Verdict
	}{
		{"r1", "a", Valid}, {"r1", "b", IsSuspect}, {"r1", "c", IsInvalid}, {"r1", "", IsInvalid}, {"r1", "d", Valid},
		{"r2", "a", IsSuspect}, {"r2", "", IsSuspect}, {"r3", "anything", IsInvalid}, {"r4", "a", Valid},
	} {
		if got := Of(findings, c.run, c.key); got != c.want {
			t.Errorf("Of(%s, %q) = %s, want %s", c.run, c.key, got, c.want)
		}
	}
}

func TestJudgeChangesNothing(t *testing.T) {
	run := runOf(sound(), simulatedRecord(true))
	before := runOf(sound(), simulatedRecord(true))
	first := Judge([]sweep.Run{run}, Limits{})
	if diff := cmp.Diff(before, run); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, Judge([]sweep.Run{run}, Limits{})); diff != "" {
		t.Errorf("judged twice: %s", diff)
	}
}
