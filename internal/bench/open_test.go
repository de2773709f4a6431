package bench

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func open(rate float64, prompts int, arrival Arrival) Level {
	return Level{Mode: Open, Rate: rate, Prompts: prompts, Arrival: arrival, Workload: Workload{InputLen: 10, OutputLen: 4, RangeRatio: 1, Seed: 1}}
}

func TestArrivals(t *testing.T) {
	if got := open(4, 4, Constant).times(); !slices.Equal(got, []time.Duration{0, 250 * msec, 500 * msec, 750 * msec}) {
		t.Errorf("constant: %v", got)
	}
	const n = 20_000
	all := open(100, n, Poisson).times()
	if !slices.IsSorted(all) || all[0] != 0 || !slices.Equal(all, open(100, n, Poisson).times()) {
		t.Error("Poisson arrivals are unsorted, late, or differ from time to time")
	}
	other := open(100, n, Poisson)
	other.Workload.Seed = 2
	if slices.Equal(all, other.times()) {
		t.Error("another seed gives the same arrivals")
	}
	var sum, squares float64
	for i := 1; i < n; i++ {
		gap := (all[i] - all[i-1]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	mean := sum / (n - 1)
	deviation := math.Sqrt(squares/(n-1) - mean*mean)
	if math.Abs(mean-0.01) > 0.0003 || math.Abs(deviation/mean-1) > 0.05 {
		t.Errorf("gaps: mean %v s, deviation %v: want an exponential distribution of 0.01 s", mean, deviation)
	}
	if closed(1, 2).times() != nil {
		t.Error("a closed loop has times")
	}
	if a, b := open(2, 9, Poisson).Key(), open(2, 9, Constant).Key(); a == b {
		t.Errorf("both arrivals have the key %s", a)
	}
}

// Requests go out at their times, also while earlier ones are unanswered.
func TestOpenLoop(t *testing.T) {
	var inFlight atomic.Int64
	f := newFake(t, func(c *call) { inFlight.Add(1); c.stream(c.Sampling.Max, 1, 60*time.Millisecond) })
	job := f.job(1, 1, 4)
	job.Level = open(50, 30, Constant)
	m, requests := run(t, job)
	if m.Completed != 30 || m.Asked != 30 || m.Ended != Complete || m.Steady != nil || m.Client.SlotShare != nil || m.Warmup != 30 {
		t.Errorf("completed %d, ended %q, steady %v, warm-up %d, client %+v", m.Completed, m.Ended, m.Steady, m.Warmup, m.Client)
	}
	if m.ConcurrencyPeak < 5 { // each takes 180 ms, one comes every 20 ms
		t.Errorf("%d in flight at most: later requests waited for earlier ones", m.ConcurrencyPeak)
	}
	for i, r := range requests {
		if due := float64(20 * i); r.Due == nil || math.Abs(*r.Due-*requests[0].Due-due) > 1e-3 || r.Sent < *r.Due {
			t.Errorf("request %d was due at %v, sent at %v", i, r.Due, r.Sent)
		}
	}
	if job.Level.Rate = 0.5; m.Window < 0.58 || job.Level.check() != nil {
		t.Errorf("window %v s", m.Window)
	}
}

// A request that is sent late has waited all the same: its latency counts from
// the moment it was meant to be sent.
func TestOpenLoopHidesNoWaiting(t *testing.T) {
	late := trace{scheduled: 100 * msec, sent: 400 * msec, paced: true, askedOut: 2, out: 2, end: 600 * msec, lastByte: 600 * msec,
		arrivals: []arrival{{at: 500 * msec, tokens: 1}, {at: 600 * msec, tokens: 1}}, firstText: 500 * msec, finish: "length"}
	m := aggregate(open(1, 1, Constant), SLO{}, []trace{late})
	near(t, "TTFT", m.TTFT.P50, 400)
	near(t, "TTFT text", m.TTFTText.P50, 400)
	near(t, "E2E", m.E2E.P50, 500)
	near(t, "TPOT", m.TPOT.P50, 100)
	near(t, "send lag", m.Client.SendLag.P50, 300)
	near(t, "window", &m.Window, 0.2)
}

// At max-level nothing more is sent, although times for it are to come.
func TestOpenLoopMaxLevel(t *testing.T) {
	f := newFake(t, well)
	job := f.job(1, 1, 4)
	job.Level, job.MaxLevel = open(20, 1000, Constant), 300*time.Millisecond
	begun := time.Now()
	m, _ := run(t, job)
	if m.Ended != AtMaxLevel || m.Issued < 2 || m.Issued > 100 || m.Completed != m.Issued || time.Since(begun) > 20*time.Second {
		t.Errorf("ended %q after %s, issued %d, completed %d", m.Ended, time.Since(begun), m.Issued, m.Completed)
	}
}

// A server that is gone ends the level at once, not at the last request's time.
func TestOpenLoopServerGone(t *testing.T) {
	var f *fake
	f = newFake(t, func(c *call) {
		if c.flushed > 0 && c.n >= 10 {
			f.kill()
			return
		}
		well(c)
	})
	job := f.job(1, 1, 4)
	job.Level, job.Warmup = open(5, 1000, Constant), 8
	begun := time.Now()
	m, _ := run(t, job)
	if m.Ended != ServerGone || m.Completed < 1 || time.Since(begun) > 30*time.Second {
		t.Errorf("ended %q after %s, completed %d, errors %v", m.Ended, time.Since(begun), m.Completed, m.Errors)
	}
}

// Nothing is silent while nothing is in flight: a slow rate is no stall.
func TestOpenLoopSlowRateIsNoStall(t *testing.T) {
	f := newFake(t, well)
	job := f.job(1, 1, 2)
	job.Level, job.Stall = open(2, 3, Constant), 150*time.Millisecond
	if m, _ := run(t, job); m.Ended != Complete || m.Completed != 3 {
		t.Errorf("ended %q, completed %d, errors %v", m.Ended, m.Completed, m.Errors)
	}
}
