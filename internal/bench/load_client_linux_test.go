package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// loadResult is what a client under load tells of itself.
type loadResult struct {
	CPU, Took time.Duration // of the window
	RSS       int64         // peak, bytes
	Requests  []seen        // the floor has none
	Window    float64       // seconds
	Output    float64       // tok/s, as measured
	Failed    int
	Lag       Dist // event lag, ms
	Stamped   float64
}

// seen is one request as the client saw it, on the machine's clock.
type seen struct {
	First    int // the prompt's first token id
	Sent     time.Duration
	Arrivals []time.Duration
}

// TestLoadClient is no test: it is the client that TestLoad measures, all that
// Run does but the flush.
func TestLoadClient(t *testing.T) {
	spec, out := loadSpec(t, "client")
	debug.SetGCPercent(25) // as `sweep bench` does
	s, err := newSession(Job{Schema: Schema, URL: spec.URL, Vocab: 32000, Level: spec.level(), Sockets: spec.Sockets})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.warmUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	level := spec.level()
	in, asked := level.Workload.Lengths(level.requests())
	o, err := s.phase(t.Context(), phase{key: level.Key(), in: in, out: asked, slots: level.slots(), progress: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	m := aggregate(level, SLO{}, o.traces)
	if m.OutputThroughput == nil {
		t.Fatalf("ended %s, errors %v", o.ended, m.Errors)
	}
	r := loadResult{CPU: o.cpu, Took: o.took, RSS: peakRSS(), Window: m.Window, Output: *m.OutputThroughput, Failed: m.Failed,
		Lag: m.Client.EventLag, Stamped: *m.Client.Stamped}
	zero := machineClock() - time.Since(o.base)
	for _, x := range o.traces {
		one := seen{First: level.Workload.Prompt(level.Key(), x.index, 1, 32000)[0], Sent: zero + x.sent}
		for _, a := range x.arrivals {
			one.Arrivals = append(one.Arrivals, zero+a.at)
		}
		r.Requests = append(r.Requests, one)
	}
	writeGob(t, out, r)
}

// peakRSS is the largest memory that this process had resident, in bytes.
// (getrusage would tell that of the process which started it, where it was larger.)
func peakRSS() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	return int64(number(bytes.TrimSpace(after(status, "VmHWM:")), 0)) << 10
}
