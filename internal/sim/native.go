package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// maxBody bounds a request body: a prompt of 200,000 token ids needs 2 MB.
const maxBody = 32 << 20

// errSpoilt ends a request that was told to go wrong.
var errSpoilt = errors.New("spoilt by a fault")

func spoiltOr(err error) error {
	if err != nil {
		return err
	}
	return errSpoilt
}

// generateRequest is the part of a POST /generate body that the simulator
// looks at.
type generateRequest struct {
	Text     *string `json:"text"`
	InputIDs []int   `json:"input_ids"`
	Sampling struct {
		MaxNewTokens *int `json:"max_new_tokens"`
		IgnoreEOS    bool `json:"ignore_eos"`
	} `json:"sampling_params"`
	Stream bool   `json:"stream"`
	RID    string `json:"rid"`
}

// native serves POST /generate.
func (s *server) native(w http.ResponseWriter, r *http.Request) {
	received := time.Now()
	var req generateRequest
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req)
	if err != nil {
		s.refuse(w, req.Stream, fmt.Errorf("the request body does not read (the simulator takes one prompt a request): %w", err))
		return
	}
	a := ask{text: req.Text, ids: req.InputIDs, most: defaultNewTokens, ignoreEOS: req.Sampling.IgnoreEOS, stream: req.Stream, rid: req.RID}
	if req.Sampling.MaxNewTokens != nil {
		a.most = *req.Sampling.MaxNewTokens
	}
	c, err := s.newCall(a, received)
	if err != nil {
		s.refuse(w, req.Stream, err)
		return
	}
	s.generate(w, r, c, newEvents(s, c))
}

// refuse answers a request that is not valid: 400, or an error event in a
// stream of status 200, where sglang's validation errors end up too.
func (s *server) refuse(w http.ResponseWriter, stream bool, err error) {
	body := nativeError(err.Error())
	if !stream {
		_ = answerJSON(w, http.StatusBadRequest, body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(append([]byte("data: "), body...), "\n\n"+done...))
}

// nativeError is /generate's shape of an error.
func nativeError(why string) []byte {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": why}}) // strings always encode
	return body
}
