package sim

import (
	"encoding/json"
	"net/http"
	"time"
)

// maxBody bounds a request body: a prompt of 200,000 token ids needs 2 MB.
const maxBody = 32 << 20

// generate serves POST /generate.
func (s *server) generate(w http.ResponseWriter, r *http.Request) {
	received := time.Now()
	c, stream, err := s.readCall(http.MaxBytesReader(w, r.Body, maxBody), received)
	if err != nil {
		s.refuse(w, stream, err)
		return
	}
	s.stats.requests.Add(1)
	s.engine.submit(c)
	var first, last time.Time
	if c.stream {
		first, last, err = s.stream(w, r, c)
	} else {
		last, err = s.whole(w, r, c)
		first = last
	}
	if err != nil {
		s.engine.abort(c)
		return
	}
	s.stats.ttft.observe(first.Sub(received).Seconds(), 1)
	s.stats.e2e.observe(last.Sub(received).Seconds(), 1)
	s.truth.finished(c, first, last)
}

// stream writes one event a token as they come, and tells when the first and
// the last were about to be written. An error means that the client left.
func (s *server) stream(w http.ResponseWriter, r *http.Request, c *call) (first, last time.Time, err error) {
	out, gone := http.NewResponseController(w), r.Context().Done()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if err := out.Flush(); err != nil {
		return first, last, err
	}
	events := newEvents(s.pieces, c, s.args.Bool("incremental_streaming_output"))
	for events.sent < c.seq.Output {
		select {
		case <-gone:
			return first, last, r.Context().Err()
		case <-c.wake:
		}
		n := int(c.ready.Load())
		if n == events.sent {
			continue // the last event already had what this wake was for
		}
		event := events.upTo(n)
		last = time.Now()
		if first.IsZero() {
			first = last
		}
		if _, err := w.Write(event); err != nil {
			return first, last, err
		}
		if err := out.Flush(); err != nil {
			return first, last, err
		}
	}
	_, err = w.Write([]byte("data: [DONE]\n\n")) // leaves with the end of the response
	return first, last, err
}

// whole answers with one JSON object when everything is there.
func (s *server) whole(w http.ResponseWriter, r *http.Request, c *call) (done time.Time, err error) {
	for int(c.ready.Load()) < c.seq.Output {
		select {
		case <-r.Context().Done():
			return done, r.Context().Err()
		case <-c.wake:
		}
	}
	var text []byte
	ids := make([]int, c.seq.Output)
	for k := range ids {
		var piece string
		piece, ids[k] = s.pieces.at(c, k)
		text = append(text, piece...)
	}
	id, _ := json.Marshal(c.id) // a string always encodes
	done = time.Now()
	body, err := json.Marshal(map[string]any{
		"text": string(text), "output_ids": ids,
		"meta_info": json.RawMessage(appendMeta(nil, c, id, c.seq.Output, done)),
	})
	if err != nil {
		return done, err
	}
	return done, answerJSON(w, http.StatusOK, body)
}

// refuse answers a request that is not valid: 400, or an error event in a
// stream of status 200, where sglang's validation errors end up too.
func (s *server) refuse(w http.ResponseWriter, stream bool, err error) {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": err.Error()}}) // strings always encode
	if !stream {
		_ = answerJSON(w, http.StatusBadRequest, body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(append([]byte("data: "), body...), "\n\ndata: [DONE]\n\n"...))
}

// answerJSON writes a whole JSON answer.
func answerJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
