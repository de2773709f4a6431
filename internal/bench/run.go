package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// DefaultStall is how long nothing may move on any stream.
	DefaultStall = 120 * time.Second

	// warmupOutput bounds the output of a warm-up request, in tokens.
	warmupOutput = 32

	// slowPrefill is the prefill speed in tokens a second below which a server
	// is taken for stalled: a long prompt adds its length over this to DefaultStall.
	slowPrefill = 500
)

// Progress tells how far a level is. During "warm-up" and "flush" there is
// nothing to count.
type Progress struct {
	Type  string `json:"type"` // "warm-up", "flush", "progress"
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Sink takes the requests of a level, in the order of their index, after the
// window. Its error ends Run.
type Sink func(Request) error

// Run measures one level of one server: warm-up requests apart from the window,
// a flush of the prefix cache, then the window. out and progress may be nil;
// progress is called from one goroutine at a time, twice a second and at the end.
//
// An error means that there is no measurement. A level that ended early, also
// because ctx did, is a measurement of what was seen, and says so in Ended.
func Run(ctx context.Context, job Job, out Sink, progress func(Progress)) (Measurement, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	s, err := newSession(job)
	if err != nil {
		return Measurement{}, err
	}
	progress(Progress{Type: "warm-up"})
	warm, err := s.warmUp(ctx)
	if err != nil {
		return Measurement{}, err
	}
	progress(Progress{Type: "flush"})
	flushResult := noCache
	if !job.NoPrefixCache {
		flushResult = flush(ctx, s.endpoint, flushPatience, flushPause)
	}
	if ctx.Err() != nil {
		return Measurement{}, fmt.Errorf("interrupted before the window: %w", ctx.Err())
	}

	n := job.Level.requests()
	in, asked := job.Level.Workload.Lengths(n)
	tell := func(done int) { progress(Progress{Type: "progress", Done: done, Total: n}) }
	tell(0)
	w, err := s.phase(ctx, phase{key: job.Level.Key(), in: in, out: asked, slots: job.Level.slots(),
		times: job.Level.times(), maxLevel: job.MaxLevel, progress: tell})
	if err != nil {
		return Measurement{}, err
	}
	tell(len(w.traces))

	m := aggregate(job.Level, job.SLO, w.traces)
	m.MaxLevel, m.Ended, m.Warmup, m.Flush, m.Simulated = max(job.MaxLevel, 0), w.ended, warm, flushResult, job.Simulated
	m.Client.Redials, m.Client.Sockets = w.redials, w.sockets
	if w.cpu >= 0 {
		m.Client.CPUSeconds = ptr(w.cpu.Seconds())
		m.Client.CPUShare = ptr(w.cpu.Seconds() / (w.took.Seconds() * float64(cores())))
	}
	if len(w.traces) == 0 {
		return m, fmt.Errorf("nothing was sent to %s: %s", s.endpoint.address, w.ended)
	}
	start, _ := span(w.traces)
	m.Started = w.base.Add(start).UTC()
	if out == nil {
		return m, nil
	}
	slices.SortFunc(w.traces, func(a, b trace) int { return cmp.Compare(a.index, b.index) })
	for _, r := range requests(w.traces, start) {
		if err := out(r); err != nil {
			return m, fmt.Errorf("keep request %d: %w", r.Index, err)
		}
	}
	return m, nil
}

// session is one level against one server.
type session struct {
	job      Job
	endpoint endpoint
	grace    time.Duration
}

func newSession(job Job) (*session, error) {
	if job.Schema > Schema {
		return nil, fmt.Errorf("the job has schema %d, this sweep knows %d: use the version of sweep that wrote it", job.Schema, Schema)
	}
	if err := job.Level.check(); err != nil {
		return nil, err
	}
	e, err := parseEndpoint(job.URL)
	if err != nil {
		return nil, err
	}
	if job.Vocab == 0 {
		job.Vocab = DefaultVocab
	}
	if job.Vocab < 2 {
		return nil, fmt.Errorf("a vocabulary of %d tokens cannot make distinct prompts", job.Vocab)
	}
	if job.Stall <= 0 {
		job.Stall = DefaultStall + time.Duration(job.Level.Workload.InputLen)*time.Second/slowPrefill
	}
	s := &session{job: job, endpoint: e, grace: DrainGrace}
	return s, errors.Join(ensureFiles(job.Level.slots()), ensurePorts(job.Level.slots()+max(s.warmSlots(), 0)))
}

// warmSlots is how many warm-up requests are sent, all at once: as many as there
// are slots at most, in an open loop as many as come in a second; below 1: none.
func (s *session) warmSlots() int {
	most := s.job.Level.slots()
	if s.job.Level.Mode == Open {
		most = min(most, max(int(s.job.Level.Rate), 1))
	}
	return min(cmp.Or(s.job.Warmup, most), most)
}

// warmUp sends requests that are not measured, all at once, with prompts of
// their own and few output tokens. It returns how many.
func (s *session) warmUp(ctx context.Context) (int, error) {
	n := s.warmSlots()
	if n < 0 {
		return 0, nil
	}
	in, out := s.job.Level.Workload.Lengths(n)
	for i := range out {
		out[i] = min(out[i], warmupOutput)
	}
	w, err := s.phase(ctx, phase{key: s.job.Level.Key() + "/warm-up", in: in, out: out, slots: n, progress: func(int) {}})
	switch {
	case err != nil:
		return n, fmt.Errorf("warm-up: %w", err)
	case ctx.Err() != nil:
		return n, fmt.Errorf("interrupted during the warm-up: %w", ctx.Err())
	case slices.ContainsFunc(w.traces, func(t trace) bool { return t.ok() }):
		return n, nil
	case len(w.traces) == 0:
		return n, fmt.Errorf("warm-up: nobody listens at %s any more: see the server's log", s.endpoint.address)
	}
	return n, fmt.Errorf("warm-up: all %d requests failed, the first with: %s: see the server's log", len(w.traces), w.traces[0].problem)
}
