package sim

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	"time"
)

// ask is one generation as an endpoint understood it.
type ask struct {
	text      *string
	ids       []int
	most      int // output tokens
	ignoreEOS bool
	stream    bool
	rid       string
	thinking  bool // the model reasons before it answers
	parsed    bool // the reasoning is told apart by a parser
	internal  bool // the server's own request
}

// defaultNewTokens is sglang's default of max_new_tokens.
const defaultNewTokens = 128

// maxInput is the longest prompt that can be served, with a few tokens kept
// back as sglang does.
func (s *server) maxInput() int {
	return min(s.timing.setup.Context, s.timing.KVTokens()/s.timing.setup.DP) - 6
}

// newCall checks an ask as sglang does and prepares its generation.
func (s *server) newCall(a ask, received time.Time) (*call, error) {
	c := &call{
		id: a.rid, stream: a.stream, internal: a.internal, interval: s.args.Int("stream_interval"),
		received: received, wake: make(chan struct{}, 1),
	}
	if err := s.readPrompt(c, a); err != nil {
		return nil, err
	}
	switch context := s.timing.setup.Context; {
	case a.most < 1:
		return nil, fmt.Errorf("max_new_tokens must be at least 1, got %d.", a.most) //nolint:staticcheck // sglang's own words
	case c.seq.Prompt > s.maxInput():
		return nil, fmt.Errorf("The input (%d tokens) is longer than the model's context length (%d tokens).", c.seq.Prompt, s.maxInput()) //nolint:staticcheck // sglang's own words
	case c.seq.Prompt+a.most > context:
		return nil, fmt.Errorf("Requested token count exceeds the model's maximum context length of %d tokens. You requested a total of %d tokens: %d tokens from the input messages and %d tokens for the completion.", //nolint:staticcheck // sglang's own words
			context, c.seq.Prompt+a.most, c.seq.Prompt, a.most)
	}
	if a.thinking {
		c.thinking, c.tagged = thinkingLength(c.hash), !a.parsed
	}
	// More than the pool holds is cut short, not refused, as sglang does.
	page := s.timing.setup.PageSize
	pool := s.timing.KVTokens() / s.timing.setup.DP / page * page
	c.seq.MaxNew = min(a.most, pool-c.seq.Prompt-1)
	c.seq.Output = c.seq.MaxNew
	if n := c.thinking + naturalLength(c.hash, c.answer); !a.ignoreEOS && n < c.seq.Output {
		c.seq.Output, c.natural = n, true
	}
	if c.id == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		c.id = hex.EncodeToString(b[:])
	}
	c.seq.call, c.seq.seed = c, c.hash
	c.seq.word = func(k int) int32 {
		_, id := s.pieces.at(c, k)
		return int32(id) //nolint:gosec // ids of a small list
	}
	c.prompt = c.seq.Prompt
	if !a.internal {
		s.spoilCall(c)
	}
	return c, nil
}

// readPrompt turns text or token ids into the prompt.
func (s *server) readPrompt(c *call, a ask) error {
	switch {
	case a.text != nil && a.ids != nil, a.text == nil && a.ids == nil:
		return fmt.Errorf("Either text, input_ids or input_embeds should be provided.") //nolint:staticcheck // sglang's own words
	case a.text != nil:
		c.seq.ids, c.hash, c.answer = textIDs(*a.text), hashText(*a.text), answer(*a.text)
	default:
		if len(a.ids) == 0 {
			return fmt.Errorf("input_ids should not be empty")
		}
		c.seq.ids = make([]int32, len(a.ids))
		for i, id := range a.ids {
			if id < 0 || id >= s.timing.model.Vocab {
				return fmt.Errorf("The input_ids contain values greater than the vocab size (%d).", s.timing.model.Vocab) //nolint:staticcheck // sglang's own words
			}
			c.seq.ids[i] = int32(id) //nolint:gosec // below the vocabulary
		}
		c.hash = hashIDs(a.ids)
	}
	c.seq.Prompt = len(c.seq.ids)
	return nil
}

// spoilCall applies the faults that concern single requests.
func (s *server) spoilCall(c *call) {
	f := &s.opt.faults
	if k := s.counted.Add(1) - 1; f.spoils(k) {
		c.spoil, c.spoilAt = f.spoil, f.after
	}
	c.garbage = f.garbage
	if f.garbage == garbageSalad {
		c.answer = nil // not even the simplest question is answered
	}
	if f.prompts > 0 {
		c.prompt = int(math.Round(float64(c.seq.Prompt) * f.prompts))
	}
	if f.short > 0 && f.short < c.seq.Output {
		c.seq.Output, c.natural = f.short, true
	}
}
