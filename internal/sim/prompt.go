package sim

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

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

// defaultNewTokens is sglang's default of max_new_tokens.
const defaultNewTokens = 128

// maxInput is the longest prompt that can be served, with a few tokens kept
// back as sglang does.
func (s *server) maxInput() int {
	return min(s.timing.setup.Context, s.timing.KVTokens()/s.timing.setup.DP) - 6
}

// readCall reads one generate request. The request is returned with an error
// too, since a refusal takes another shape for a stream.
func (s *server) readCall(body io.Reader, received time.Time) (*call, bool, error) {
	var req generateRequest
	if err := json.NewDecoder(body).Decode(&req); err != nil {
		return nil, req.Stream, fmt.Errorf("the request body does not read (the simulator takes one prompt a request): %w", err)
	}
	c, err := s.newCall(req, received)
	return c, req.Stream, err
}

func (s *server) newCall(req generateRequest, received time.Time) (*call, error) {
	c := &call{id: req.RID, stream: req.Stream, interval: s.args.Int("stream_interval"), received: received, wake: make(chan struct{}, 1)}
	c.seq.call = c
	switch {
	case req.Text != nil && req.InputIDs != nil, req.Text == nil && req.InputIDs == nil:
		return nil, fmt.Errorf("Either text, input_ids or input_embeds should be provided.") //nolint:staticcheck // sglang's own words
	case req.Text != nil:
		c.seq.Prompt, c.hash, c.answer = max((len(*req.Text)+3)/4, 1), hashText(*req.Text), answer(*req.Text)
	default:
		if len(req.InputIDs) == 0 {
			return nil, fmt.Errorf("input_ids should not be empty")
		}
		for _, id := range req.InputIDs {
			if id < 0 || id >= s.timing.model.Vocab {
				return nil, fmt.Errorf("The input_ids contain values greater than the vocab size (%d).", s.timing.model.Vocab) //nolint:staticcheck // sglang's own words
			}
		}
		c.seq.Prompt, c.hash = len(req.InputIDs), hashIDs(req.InputIDs)
	}
	want := defaultNewTokens
	if req.Sampling.MaxNewTokens != nil {
		want = *req.Sampling.MaxNewTokens
	}
	switch context := s.timing.setup.Context; {
	case want < 1:
		return nil, fmt.Errorf("max_new_tokens must be at least 1, got %d.", want) //nolint:staticcheck // sglang's own words
	case c.seq.Prompt > s.maxInput():
		return nil, fmt.Errorf("The input (%d tokens) is longer than the model's context length (%d tokens).", c.seq.Prompt, s.maxInput()) //nolint:staticcheck // sglang's own words
	case c.seq.Prompt+want > context:
		return nil, fmt.Errorf("Requested token count exceeds the model's maximum context length of %d tokens. You requested a total of %d tokens: %d tokens from the input messages and %d tokens for the completion.", //nolint:staticcheck // sglang's own words
			context, c.seq.Prompt+want, c.seq.Prompt, want)
	}
	// More than the pool holds is cut short, not refused, as sglang does.
	c.seq.Output = min(want, s.timing.KVTokens()/s.timing.setup.DP-c.seq.Prompt-1)
	if n := naturalLength(c.hash, c.answer); !req.Sampling.IgnoreEOS && n < c.seq.Output {
		c.seq.Output, c.natural = n, true
	}
	if c.id == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		c.id = hex.EncodeToString(b[:])
	}
	return c, nil
}
