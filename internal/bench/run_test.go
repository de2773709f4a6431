package bench

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestClosedLoop(t *testing.T) {
	f := newFake(t, well)
	m, requests := run(t, f.job(4, 20, 5))
	if m.Ended != Complete || m.Asked != 20 || m.Issued != 20 || m.Completed != 20 || m.Short != 0 || *m.Mismatch != 0 || m.MaxLevel != 0 || m.Errors != nil {
		t.Errorf("measurement %+v", m)
	}
	if m.OutputTokens != 100 || *m.InputTokens != 200 || m.CachedTokens == nil || *m.CachedTokens != 0 || m.DistinctPrompts != 20 {
		t.Errorf("tokens: out %d, in %d, cached %v, %d distinct prompts", m.OutputTokens, *m.InputTokens, m.CachedTokens, m.DistinctPrompts)
	}
	if m.Warmup != 4 || m.Flush != "flushed" || m.Key != m.Level.Key() || m.Tool != "native" || time.Since(m.Started) > time.Minute {
		t.Errorf("warm-up %d, flush %q, key %s, started %s", m.Warmup, m.Flush, m.Key, m.Started)
	}
	if m.ConcurrencyPeak > 4 || m.Client.Redials != 0 || m.Client.CPUShare == nil || m.Client.CPUSeconds == nil || m.Client.SendLag.N != 20 {
		t.Errorf("peak %d in flight, client %+v", m.ConcurrencyPeak, m.Client)
	}
	for i, r := range requests {
		if r.Index != i || r.Error != "" || r.Finish != "length" || *r.OutputTok != 5 || *r.PromptTok != 10 || r.Chunks != 5 ||
			*r.TTFT <= 0 || *r.E2E < *r.TTFT || *r.TTFTText != *r.TTFT {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	for _, c := range f.measured() {
		if !c.Stream || !c.Sampling.IgnoreEOS || c.Sampling.Max != 5 || len(c.IDs) != 10 {
			t.Errorf("the server was sent %+v", c)
		}
	}
	if _, accepted, _, _ := f.seen(); accepted != 4+1+4 {
		t.Errorf("%d connections: want 4 of the warm-up, the flush, 4 of the window", accepted)
	}
}

// All of a burst is in flight at once, each request on a connection of its own.
func TestBurst(t *testing.T) {
	const n = 50
	var all sync.WaitGroup
	all.Add(n)
	f := newFake(t, func(c *call) {
		if c.flushed > 0 {
			all.Done()
			all.Wait() // nobody is answered before everybody is there
		}
		well(c)
	})
	job := f.job(n, 0, 3)
	job.Level.Mode = Burst
	m, _ := run(t, job)
	if m.Completed != n || m.ConcurrencyPeak != n || m.Steady != nil || m.Client.SlotShare != nil || m.Client.FirstWave == nil {
		t.Errorf("completed %d, peak %d, steady %v, client %+v", m.Completed, m.ConcurrencyPeak, m.Steady, m.Client)
	}
}

// The client has no cap of its own below what was asked, and measures what it
// had in flight.
func TestC15InFlightIsAsAsked(t *testing.T) {
	const slots = 300
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, 40*time.Millisecond) })
	job := f.job(slots, 2*slots, 6)
	job.Warmup = 2
	m, _ := run(t, job)
	_, _, peak, _ := f.seen()
	if peak < slots*95/100 || m.ConcurrencyPeak < slots*95/100 || m.ConcurrencyPeak > slots {
		t.Errorf("the server saw %d at once, the client says %d, asked %d", peak, m.ConcurrencyPeak, slots)
	}
	if m.Completed != 2*slots || m.ConcurrencyMean == nil || *m.ConcurrencyMean > slots {
		t.Errorf("completed %d, mean concurrency %v", m.Completed, m.ConcurrencyMean)
	}
}

// The warm-up keeps to the cap, has prompts of its own and at most 32 output
// tokens, and is not in the window.
func TestC22WarmupStaysApart(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 10, 5*time.Millisecond) })
	job := f.job(8, 24, 50)
	job.Warmup = 100
	m, requests := run(t, job)
	prompts := map[int]bool{}
	warm := 0
	calls, _, _, _ := f.seen()
	for _, c := range calls {
		prompts[c.IDs[0]] = true
		if c.flushed > 0 {
			continue
		}
		warm++
		if c.Sampling.Max != 32 || c.inFlight > 8 {
			t.Errorf("a warm-up request of %d tokens, %d at once", c.Sampling.Max, c.inFlight)
		}
	}
	if warm != 8 || m.Warmup != 8 || len(f.measured()) != 24 || m.Issued != 24 || len(prompts) != 32 {
		t.Errorf("%d warm-up requests (reported %d), %d measured, %d prompts", warm, m.Warmup, len(f.measured()), len(prompts))
	}
	if requests[0].Sent < 0 || slices.MinFunc(requests, func(a, b Request) int { return int(1e6 * (a.Sent - b.Sent)) }).Sent != 0 {
		t.Error("the window does not begin with the first send")
	}
	measured := f.measured()
	if wall := measured[len(measured)-1].at.Sub(measured[0].at).Seconds(); m.Window < wall-0.005 || m.Window > wall+1 {
		t.Errorf("window %v s, the server saw sends over %v s", m.Window, wall)
	}

	job.Warmup = -1
	if m, _ := run(t, job); m.Warmup != 0 {
		t.Errorf("a warm-up of %d although none was wanted", m.Warmup)
	}
}

func TestFlush(t *testing.T) {
	f := newFake(t, well)
	e, _ := parseEndpoint(f.url())
	for name, c := range map[string]struct {
		answer func(n int) string
		want   string
	}{
		"at once":     {func(int) string { return "200 OK" }, "flushed"},
		"after a try": {func(n int) string { return map[bool]string{true: "400 Bad Request", false: "200 OK"}[n == 1] }, "flushed"},
		"never":       {func(int) string { return "400 Bad Request" }, "not flushed after 200ms: HTTP 400: fake"},
		"unknown":     {func(int) string { return "404 Not Found" }, "not flushed: the server has no /flush_cache (HTTP 404)"},
	} {
		f.mu.Lock()
		f.flushes, f.flush = 0, c.answer
		f.mu.Unlock()
		if got := flush(t.Context(), e, 200*time.Millisecond, 10*time.Millisecond); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	f.die()
	if got := flush(t.Context(), e, 30*time.Millisecond, 10*time.Millisecond); got != "not flushed after 30ms: connection refused" {
		t.Errorf("dead server: %q", got)
	}
}

// A server without a prefix cache is not asked to flush it.
func TestNoFlushWithoutAPrefixCache(t *testing.T) {
	f := newFake(t, well)
	job := f.job(1, 2, 3)
	job.NoPrefixCache = true
	m, _ := run(t, job)
	if _, _, _, flushes := f.seen(); m.Flush != "skipped: radix cache off" || flushes != 0 || m.Completed != 2 {
		t.Errorf("flush %q, %d requests for one, completed %d", m.Flush, flushes, m.Completed)
	}
}

func TestWarmupAllFailing(t *testing.T) {
	f := newFake(t, func(c *call) {
		c.write("HTTP/1.1 500 Oops\r\nContent-Length: 15\r\n\r\nno\x1b[31m KV cache!")
	})
	_, err := Run(t.Context(), f.job(2, 4, 5), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "warm-up: all 2 requests failed") || !strings.Contains(err.Error(), "HTTP 500: no [31m KV cac") {
		t.Errorf("error %v", err)
	}
	f.die()
	if _, err = Run(t.Context(), f.job(2, 4, 5), nil, nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("no server: error %v", err)
	}
}

func TestJobsThatCannotWork(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"want http://": func(j *Job) { j.URL = "ftp://127.0.0.1:1" },
		"credentials":  func(j *Job) { j.URL = "http://user:secret@127.0.0.1:1" },
		"at least 1":   func(j *Job) { j.Level.Workload.InputLen = 0 },
		"schema 9":     func(j *Job) { j.Schema = 9 },
		"vocabulary":   func(j *Job) { j.Vocab = 1 },
		"open files":   func(j *Job) { j.Level.Concurrency, j.Level.Prompts = 1<<40, 1<<40 },
		"level c=16: 16 slots are never filled by 4 prompts: give at least 16": func(j *Job) { j.Level.Concurrency, j.Level.Prompts = 16, 4 },
		"rate=0: the rate must be above 0":                                     func(j *Job) { j.Level.Mode, j.Level.Prompts = Open, 3 },
		"arrival \"gamma\"":                                                    func(j *Job) { j.Level.Mode, j.Level.Rate, j.Level.Arrival = Open, 1, "gamma" },
		"sockets \"raw\"":                                                      func(j *Job) { j.Sockets = "raw" },
		"local ports":                                                          func(j *Job) { j.Level.Concurrency, j.Level.Prompts = 1<<40, 1<<40 },
		"mode \"often\"":                                                       func(j *Job) { j.Level.Mode = "often" },
	} {
		job := (&fake{listener: nobody{}}).job(1, 1, 1)
		change(&job)
		if _, err := Run(t.Context(), job, nil, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestSinkErrorIsAnError(t *testing.T) {
	f := newFake(t, well)
	full := errors.New("disk full")
	if _, err := Run(t.Context(), f.job(1, 2, 2), func(Request) error { return full }, nil); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

func TestProgress(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, 100*time.Millisecond) })
	var seen []string
	var dones []int
	if _, err := Run(t.Context(), f.job(1, 2, 8), nil, func(p Progress) {
		if len(seen) == 0 || seen[len(seen)-1] != p.Type {
			seen = append(seen, p.Type)
		}
		if p.Type == "progress" {
			dones = append(dones, p.Done)
			if p.Total != 2 {
				t.Errorf("total %d", p.Total)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []string{"warm-up", "flush", "progress"}) || dones[0] != 0 || dones[len(dones)-1] != 2 || len(dones) > 6 || !slices.IsSorted(dones) {
		t.Errorf("progress %v %v", seen, dones)
	}
}

// When a person stops it, what was measured stays.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, func(c *call) {
		if c.flushed > 0 && c.n > 5 {
			cancel()
			time.Sleep(50 * time.Millisecond)
		}
		c.stream(c.Sampling.Max, 1, 0)
	})
	m, err := Run(ctx, f.job(1, 1000, 3), nil, nil)
	if err != nil || m.Ended != Interrupted || m.Completed < 1 || m.Issued >= 1000 || m.OutputThroughput == nil {
		t.Errorf("error %v, ended %q, completed %d of %d", err, m.Ended, m.Completed, m.Issued)
	}
	if n := m.Errors["interrupted"]; n != m.Failed {
		t.Errorf("errors %v for %d failed", m.Errors, m.Failed)
	}
	if _, err := Run(ctx, f.job(1, 10, 3), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted before the window: error %v", err)
	}
}

// At max-level nothing more is sent; what is in flight may finish.
func TestMaxLevel(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, 10*time.Millisecond) })
	job := f.job(2, 1000, 10)
	job.MaxLevel = 400 * time.Millisecond
	m, _ := run(t, job)
	if m.Ended != AtMaxLevel || m.Issued >= 1000 || m.Completed != m.Issued || m.Failed != 0 || m.Steady == nil || m.Steady.OutputThroughput == nil {
		t.Errorf("ended %q, issued %d, completed %d, errors %v, steady %+v", m.Ended, m.Issued, m.Completed, m.Errors, m.Steady)
	}
	if m.MaxLevel != job.MaxLevel {
		t.Errorf("max-level %s is recorded as %s", job.MaxLevel, m.MaxLevel)
	}
	if m.Steady.Seconds > 0.45 {
		t.Errorf("steady for %v s although issuing stops after 0.4 s", m.Steady.Seconds)
	}
}

// outlast runs a level whose requests last longer than max-level and its grace.
func outlast(t *testing.T, f *fake, level Level) outcome {
	t.Helper()
	job := f.job(1, 1, 1)
	job.Level, job.MaxLevel = level, 100*time.Millisecond
	s, err := newSession(job)
	if err != nil {
		t.Fatal(err)
	}
	s.grace = 200 * time.Millisecond
	in, out := level.Workload.Lengths(level.requests())
	o, err := s.phase(t.Context(), phase{key: "k", in: in, out: out, slots: level.slots(), maxLevel: job.MaxLevel, progress: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Where max-level stopped the issuing, what outlives the grace is cut, and says so.
func TestMaxLevelCutsAfterTheGrace(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, 20*time.Millisecond) })
	job := f.job(2, 3, 500)
	o := outlast(t, f, job.Level)
	m := aggregate(job.Level, job.SLO, o.traces)
	if o.ended != AtMaxLevel || m.Completed != 0 || m.Cut != 2 || m.Failed != 0 || !o.traces[0].cut {
		t.Errorf("ended %q, completed %d, errors %v", o.ended, m.Completed, slices.Collect(maps.Keys(m.Errors)))
	}
	if o.traces[0].out < 5 || m.OutputTokens != 0 {
		t.Errorf("partial output %d, credited %d", o.traces[0].out, m.OutputTokens)
	}
}

// Max-level is about issuing: a burst, or the last requests of a closed loop,
// take as long as they take.
func TestMaxLevelCutsNothingOnceAllIsIssued(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, 50*time.Millisecond) })
	loop := f.job(2, 2, 12).Level
	burst := loop
	burst.Mode = Burst
	third := f.job(2, 3, 4).Level // two go on for 150 ms, the third is never issued
	for name, c := range map[string]struct {
		level Level
		ended Ended
	}{"burst": {burst, Complete}, "tail": {loop, Complete}, "not all issued": {third, AtMaxLevel}} {
		o := outlast(t, f, c.level)
		m := aggregate(c.level, SLO{}, o.traces)
		if o.took < 150*time.Millisecond || o.ended != c.ended || m.Cut != 0 || m.Completed != m.Issued || m.Issued != 2 {
			t.Errorf("%s: took %s, ended %q, %d issued, %d completed, %d cut", name, o.took, o.ended, m.Issued, m.Completed, m.Cut)
		}
	}
}

// A server that hangs is noticed, and what was measured until then is kept.
func TestStall(t *testing.T) {
	release := make(chan struct{})
	f := newFake(t, func(c *call) {
		if c.flushed > 0 && c.n >= 8 {
			c.write(streamHead + chunk(c.token(1, "")))
			<-release
			return
		}
		well(c)
	})
	defer close(release)
	job := f.job(2, 100, 5)
	job.Stall = 300 * time.Millisecond
	begun := time.Now()
	m, requests := run(t, job)
	if m.Ended != Stalled || m.Completed != 6 || m.Failed != 2 || m.OutputThroughput == nil || m.Errors["stalled: no token on any stream for 300ms"] != 2 {
		t.Errorf("ended %q, completed %d, errors %v", m.Ended, m.Completed, m.Errors)
	}
	if time.Since(begun) > 10*time.Second || m.Window > job.Stall.Seconds() {
		t.Errorf("took %s, window %v s: silence is not part of the window", time.Since(begun), m.Window)
	}
	if last := requests[len(requests)-1]; last.Chunks != 1 || last.TTFT == nil || last.E2E != nil {
		t.Errorf("the stalled request: %+v", last)
	}
}

func TestStallBudgetGrowsWithThePrompt(t *testing.T) {
	job := (&fake{listener: nobody{}}).job(1, 1, 1)
	job.Stall = 0
	job.Level.Workload.InputLen = 131072
	s, err := newSession(job)
	if err != nil || s.job.Stall < DefaultStall+4*time.Minute || s.job.Stall > DefaultStall+6*time.Minute {
		t.Errorf("budget %v (%v)", s.job.Stall, err)
	}
}

func TestWarmupThatStalls(t *testing.T) {
	release := make(chan struct{})
	f := newFake(t, func(c *call) { <-release })
	defer close(release)
	job := f.job(2, 4, 5)
	job.Stall = 100 * time.Millisecond
	if _, err := Run(t.Context(), job, nil, nil); err == nil || !strings.Contains(err.Error(), "no token on any stream") {
		t.Errorf("error %v", err)
	}
}

// A killed server ends the level: the rest is not burnt through.
func TestServerGone(t *testing.T) {
	var f *fake
	f = newFake(t, func(c *call) {
		if c.flushed > 0 && c.n == 10 {
			f.kill()
			return
		}
		well(c)
	})
	m, _ := run(t, f.job(3, 500, 5))
	if m.Ended != ServerGone || m.Completed < 5 || m.Failed < 1 || m.Failed > 3 || m.Issued > 12 || m.OutputThroughput == nil {
		t.Errorf("ended %q, completed %d, issued %d, errors %v", m.Ended, m.Completed, m.Issued, m.Errors)
	}
}

// Against a server whose times are known. The limits are loose since tests share
// their machine; the figures are printed.
func TestAccuracyAt64Streams(t *testing.T) {
	const slots, ttft, gap, tokens = 64, 150 * time.Millisecond, 20 * time.Millisecond, 16
	f := newFake(t, func(c *call) {
		begun := time.Now()
		c.write(streamHead)
		for n := 1; n <= tokens; n++ {
			time.Sleep(time.Until(begun.Add(ttft + time.Duration(n-1)*gap)))
			finish := ""
			if n == tokens {
				finish = "length"
			}
			c.write(chunk(c.token(n, finish)))
		}
		c.write(chunk("data: [DONE]\n\n") + "0\r\n\r\n")
	})
	job := f.job(slots, 3*slots, tokens)
	job.Warmup = 4
	m, _ := run(t, job)
	truth := float64(ttft+(tokens-1)*gap) / float64(time.Second)
	for _, c := range []struct {
		name string
		got  *float64
		want float64
	}{
		{"TTFT p50 ms", m.TTFT.P50, 150}, {"TPOT p50 ms", m.TPOT.P50, 20}, {"ITL p50 ms", m.ITL.P50, 20},
		{"output tok/s", m.OutputThroughput, slots * tokens / truth}, {"steady output tok/s", m.Steady.OutputThroughput, slots * tokens / truth},
	} {
		off := 100 * (*c.got - c.want) / c.want
		t.Logf("%s %.3f, truth %.3f: %+.2f %%", c.name, *c.got, c.want, off)
		if off > 10 || off < -10 {
			t.Errorf("%s is %.1f %% off", c.name, off)
		}
	}
	t.Logf("client: CPU %.0f %% of its cores, send lag p99 %.3f ms, first wave %.2f ms", 100**m.Client.CPUShare, *m.Client.SendLag.P99, *m.Client.FirstWave)
}
