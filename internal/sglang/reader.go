package sglang

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// firedUp is the server's own word that its warm-up request was answered.
const firedUp = "The server is fired up and ready to roll!"

// LogReader reads a server's log as it grows: any chunks, any number of ranks,
// every dialect from v0.4.6 to v0.5.17. Its memory is bounded whatever it is
// fed. Safe for concurrent use.
type LogReader struct {
	mu       sync.Mutex
	split    splitter
	phases   timeline
	why      suspect
	batches  batches
	excerpts excerpts
	rank     string    // of the last line that had one
	progress *float64  // of the phase that lasts
	now      time.Time // of the chunk that is read
	past     *replay   // while a log is read afterwards
	compiles compiles
}

// replay gives lines that were written before they were read their times.
type replay struct {
	since, until time.Time
	zone         *time.Duration // of the stamps, null before the first
}

// zoneStep is what time zones differ by. The first line of a log comes within
// half of it after the start, which tells the zone that its stamps don't name.
const zoneStep = 15 * time.Minute

// NewLogReader makes a reader for one start of a server.
func NewLogReader() *LogReader { return &LogReader{phases: newTimeline()} }

// Feed takes the next bytes of the log; at is when they were read. The first
// call, which may be without bytes, is the start of the first phase.
func (r *LogReader) Feed(at time.Time, chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.past = nil
	r.begin(at)
	r.split.feed(chunk, r.segment)
}

// Replay is Feed for a log that was written while nobody read, by a server
// that started at since. Its lines are timed by their own stamps, so durations
// are as precise as these: one second, or milliseconds with SGLANG_LOG_MS.
func (r *LogReader) Replay(since, now time.Time, chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(since)
	if r.past == nil {
		r.past = &replay{since: since}
	}
	r.past.until = now
	r.split.feed(chunk, r.segment)
}

// End takes a last line that has no line break: the process is gone.
func (r *LogReader) End(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(at)
	r.split.flush(r.segment)
}

// begin sets the clock; it never goes back.
func (r *LogReader) begin(at time.Time) {
	if at.After(r.now) {
		r.now = at
	}
	if len(r.phases.list) == 0 {
		r.phases.enter(r.now, PhaseProcess, 0)
	}
}

func (r *LogReader) segment(raw string) {
	bar, message := splitBar(strings.TrimRight(Plain(raw), " "))
	if p := barProgress(bar, r.phases.current()); p != nil {
		r.progress = p
	}
	if message != "" {
		r.line(message)
	}
}

func (r *LogReader) line(whole string) {
	l := parseLine(whole, r.rank)
	r.rank = l.rank
	r.replayed(l)
	l.at = r.now

	before := len(r.phases.list)
	r.phases.read(l)
	if len(r.phases.list) != before {
		r.progress = nil
	}
	fatal := !r.batches.read(l) && r.why.read(l, r.phases.current())
	r.excerpts.read(l, fatal)
	r.compiles.read(l)
}

// replayed moves the clock to when a line of the past was written.
func (r *LogReader) replayed(l line) {
	if r.past == nil || !l.stamped() {
		return
	}
	if r.past.zone == nil {
		r.past.zone = new(l.stamp.Sub(r.past.since).Round(zoneStep))
	}
	at := l.stamp.Add(-*r.past.zone)
	if at.After(r.now) && !at.After(r.past.until) {
		r.now = at
	}
}

// Phases returns the stages so far. A speculative draft model comes with a
// second round of weights, KV cache and graphs.
func (r *LogReader) Phases() []Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.phases.list)
}

// Current is the phase that lasts and how far it is, 0 to 1; null where the
// log does not tell.
func (r *LogReader) Current() (PhaseName, *float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.phases.current()
	if bar, _ := splitBar(Plain(string(r.split.buf))); bar != "" {
		if p := barProgress(bar, name); p != nil { // a bar that is drawn and not yet drawn over
			return name, p
		}
	}
	return name, r.progress
}

// Fired reports whether the server said that it is ready.
func (r *LogReader) Fired() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phases.current() == PhaseServing
}

// Cause is the first known reason for a failure in the log, nil if there is
// none. A server may live on after it: only its end makes it a failure.
func (r *LogReader) Cause() *Cause {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why.cause == nil {
		return nil
	}
	return new(*r.why.cause)
}

// Batches sums up the batch lines so far.
func (r *LogReader) Batches() BatchStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batches.sum()
}

// Excerpt returns at most n lines: the first fatal line of each rank with a
// little context, equal ones once, then the end of the log.
func (r *LogReader) Excerpt(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.excerpts.lines(n)
}

// Last is the last line of the log.
func (r *LogReader) Last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.excerpts.last()
}
