package sim

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// eventually repeats a measurement until it is as long as wanted, ten times at
// most: a busy machine delays what a client sees, a server with a wrong pace
// never fits.
func eventually(t *testing.T, what string, want time.Duration, tolerance float64, measure func() time.Duration) {
	t.Helper()
	if raced {
		t.Skip("times mean nothing under the race detector")
	}
	var seen []time.Duration
	for range 10 {
		got := measure()
		seen = append(seen, got)
		if math.Abs(float64(got-want)) <= tolerance*float64(want) {
			return
		}
	}
	t.Errorf("%s: got %v, want %v within %.0f %%", what, seen, want, tolerance*100)
}

// The live server keeps the model's pace at real time: TTFT of a single stream,
// TPOT of 16.
func TestLiveServerKeepsTheModelsPace(t *testing.T) {
	l := start(t, "--disable-radix-cache").ready()
	timing := NewTiming(mustPreset(t, "small"), Setup{})
	prompt := strings.Repeat("word", 2048) // four letters a token, quick to decode
	eventually(t, "TTFT", timing.PrefillTime(2048), 0.05, func() time.Duration {
		r, err := l.stream(`{"text":"` + prompt + `","sampling_params":{"max_new_tokens":2},"stream":true}`)
		if err != nil {
			t.Fatal(err)
		}
		return r.first.Sub(r.sent)
	})
	eventually(t, "TPOT", timing.StepTime(16), 0.05, func() time.Duration {
		var tpot []time.Duration
		for _, r := range l.burst(16, 32, 64) {
			if n := r.final().Meta.Completion; n != 64 {
				t.Errorf("%d tokens", n)
			}
			tpot = append(tpot, r.tpot())
		}
		slices.Sort(tpot)
		return tpot[len(tpot)/2]
	})
}

// 256 streams decode for as long as the model says: late wake-ups do not add up.
func TestManyStreamsDoNotDrift(t *testing.T) {
	const out = 16
	l := start(t, "--disable-radix-cache").ready()
	step := NewTiming(mustPreset(t, "small"), Setup{}).StepTime(256)
	eventually(t, "decoding", (out-1)*step, 0.10, func() time.Duration {
		var first, last time.Time // when everybody decodes, and the end
		for _, r := range l.burst(256, 16, out) {
			if n := r.final().Meta.Completion; n != out || !r.done {
				t.Errorf("%d tokens, done %v", n, r.done)
			}
			if r.first.After(first) {
				first = r.first
			}
			if r.last.After(last) {
				last = r.last
			}
		}
		return last.Sub(first)
	})
}
