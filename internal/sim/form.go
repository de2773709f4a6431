package sim

import (
	"net/http"
	"strconv"
	"time"
)

// form is the shape that an endpoint gives to one generation.
type form interface {
	// upTo returns the events that bring a stream to n tokens, valid until the
	// next call. n rises.
	upTo(n int) []byte
	// abort returns the events that bring a stream to n tokens and end it early.
	abort(n int, why string) []byte
	// tail is what comes between the last token and [DONE].
	tail() []byte
	// whole is the answer without a stream, of n tokens; why is empty unless it
	// ended early.
	whole(n int, why string, now time.Time) ([]byte, error)
	// fail is the body of an error.
	fail(status int, why string) []byte
}

// The words of sglang for what ends early.
const (
	abortedByUser = "Aborted by AbortReq."
	abortedByPool = "Out of memory even after retracting all other requests in the decode batch."
	brokenStream  = "CUDA error: an illegal memory access was encountered"
)

// generate answers one generation from its submission to its last byte.
func (s *server) generate(w http.ResponseWriter, r *http.Request, c *call, f form) {
	if limit := s.opt.faults.refuseAbove; limit > 0 && s.engine.busy.Load() >= int64(limit) {
		_ = answerJSON(w, http.StatusServiceUnavailable, f.fail(http.StatusServiceUnavailable, "The request queue is full."))
		return
	}
	s.stats.requests.Add(1)
	s.engine.submit(c)
	var first, last time.Time
	var err error
	if c.stream {
		first, last, err = s.stream(w, r, c, f)
	} else {
		last, err = s.whole(w, r, c, f)
		first = last
	}
	if err != nil {
		s.engine.abort(c)
		return
	}
	s.stats.ttft.observe(first.Sub(c.received).Seconds(), 1)
	s.stats.e2e.observe(last.Sub(c.received).Seconds(), 1)
	s.truth.finished(c, first, last)
}

// stream writes events as tokens come, and tells when the first and the last
// were about to be written. An error means that the client left or that the
// request was spoilt.
func (s *server) stream(w http.ResponseWriter, r *http.Request, c *call, f form) (first, last time.Time, err error) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if err := out.Flush(); err != nil || c.spoil == emptyBody {
		return first, last, spoiltOr(err)
	}
	for sent := 0; sent < c.seq.Output; {
		n, end, err := c.next(r)
		if err != nil {
			return first, last, err
		}
		if n == sent && end == unspoilt {
			continue // the last event already had what this wake was for
		}
		var event []byte
		if n > sent && end != abortEvent {
			event = f.upTo(n)
		}
		switch end {
		case abortEvent:
			event = append(f.abort(n, c.why()), done...)
		case errorEvent:
			event = append(event, "data: "...)
			event = append(append(event, f.fail(http.StatusInternalServerError, brokenStream)...), "\n\n"+done...)
		}
		last, sent = time.Now(), n
		if first.IsZero() {
			first = last
		}
		if _, err := w.Write(event); err != nil {
			return first, last, err
		}
		if err := out.Flush(); err != nil || end != unspoilt {
			return first, last, spoiltOr(err)
		}
	}
	_, err = w.Write(append(f.tail(), done...)) // leaves with the end of the response
	return first, last, err
}

const done = "data: [DONE]\n\n"

// next waits for tokens and says how many there are to be sent and how the
// stream ends early, if it does.
func (c *call) next(r *http.Request) (n int, end spoil, err error) {
	select {
	case <-r.Context().Done():
		return 0, unspoilt, r.Context().Err()
	case <-c.wake:
	}
	n = int(c.ready.Load())
	switch {
	case c.aborted.Load() && n < c.seq.Output:
		return n, abortEvent, nil
	case c.spoil != unspoilt && n >= c.spoilAt:
		return c.spoilAt, c.spoil, nil
	}
	return n, unspoilt, nil
}

// why is the reason of an early end.
func (c *call) why() string {
	if c.aborted.Load() {
		return abortedByUser
	}
	return abortedByPool
}

// whole answers with one JSON object when everything is there.
func (s *server) whole(w http.ResponseWriter, r *http.Request, c *call, f form) (last time.Time, err error) {
	if c.spoil == emptyBody || c.spoil == cutOff {
		w.WriteHeader(http.StatusOK)
		return last, spoiltOr(nil)
	}
	n, end := 0, unspoilt
	for n < c.seq.Output && end == unspoilt {
		if n, end, err = c.next(r); err != nil {
			return last, err
		}
	}
	last = time.Now()
	why := ""
	switch end {
	case errorEvent:
		_ = answerJSON(w, http.StatusInternalServerError, f.fail(http.StatusInternalServerError, brokenStream))
		return last, errSpoilt
	case abortEvent:
		why = c.why()
	}
	body, err := f.whole(n, why, last)
	if err != nil {
		return last, err
	}
	if err := answerJSON(w, http.StatusOK, body); err != nil || why != "" {
		return last, spoiltOr(err)
	}
	return last, nil
}

// answerJSON writes a whole JSON answer.
func answerJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
