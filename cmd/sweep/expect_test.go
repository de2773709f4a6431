package main

import (
	"strings"
	"testing"
	"time"

	"sweep/internal/store"
	"sweep/internal/sweep"
)

// TestTimeLeft: before a run was timed the status line goes by the plan and
// says so; afterwards by what was measured.
func TestTimeLeft(t *testing.T) {
	begin := time.Date(2026, 12, 1, 22, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	night := func(e expected) *clock {
		c := &clock{expected: e}
		c.event(store.Event{Type: store.NightStart, At: begin, Runs: 4})
		return c
	}
	start := func(c *clock, ordinal, minute int) {
		c.event(store.Event{Type: store.RunStart, At: at(minute), Ordinal: ordinal, Runs: 4, Name: "cap=64"})
	}
	end := func(c *clock, minute int) { c.event(store.Event{Type: store.RunEnd, At: at(minute)}) }
	want := func(c *clock, minute int, text string) {
		t.Helper()
		if got := c.status(at(minute)); !strings.Contains(got, text+" · ") {
			t.Errorf("after %d min: %s, want %s", minute, got, text)
		}
	}
	// Run 2 is there already; 1, 3 and 4 take 30, 60 and 90 minutes.
	e := sweep.Estimate{Starts: 3, Measurements: 6, Runs: []time.Duration{30 * time.Minute, 0, time.Hour, 90 * time.Minute}}
	c := night(expect(e))
	start(c, 1, 0)
	want(c, 0, "about 3 h 00 min left (assumed)")
	want(c, 10, "about 2 h 50 min left (assumed)")
	want(c, 45, "about 2 h 30 min left (assumed)") // the first is late: the others are still as long
	end(c, 60)                                     // twice as long as was thought
	c.event(store.Event{Type: store.RunReused, At: at(60), Ordinal: 2})
	start(c, 3, 60)
	want(c, 60, "about 5 h 00 min left")
	want(c, 90, "about 4 h 30 min left")
	end(c, 180)
	start(c, 4, 180)
	want(c, 180, "about 3 h 00 min left")

	// A run of which most was there, or whose server was up, is no measure of the others.
	for _, was := range []store.Event{{Type: store.LevelReused, At: at(1)}, {Type: store.Ready, At: at(1), Text: "its server serves on"}} {
		c = night(expect(e))
		start(c, 1, 0)
		c.event(was)
		end(c, 4)
		start(c, 3, 4)
		want(c, 4, "about 2 h 30 min left (assumed)")
		end(c, 124)
		start(c, 4, 124)
		want(c, 124, "about 3 h 00 min left")
	}

	e.RecordedStarts, e.Recorded = 3, 6
	c = night(expect(e))
	start(c, 1, 0)
	want(c, 0, "about 3 h 00 min left (by earlier runs)")

	c = night(expected{})
	start(c, 1, 0)
	want(c, 0, "time left: known after the first run")
	end(c, 10)
	start(c, 2, 10)
	want(c, 15, "about 25 min 00 s left")
}
