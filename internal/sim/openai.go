package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// openaiRequest is the part of the bodies of /v1/completions and
// /v1/chat/completions that the simulator looks at.
type openaiRequest struct {
	Model         string          `json:"model"`
	Prompt        json.RawMessage `json:"prompt"` // completions: text or token ids, or a list of one of these
	Messages      []message       `json:"messages"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	IgnoreEOS     bool            `json:"ignore_eos"`
	Stream        bool            `json:"stream"`
	N             *int            `json:"n"`
	RID           string          `json:"rid"`
	Options       *struct {
		IncludeUsage    *bool `json:"include_usage"`
		ContinuousUsage bool  `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	Template struct {
		EnableThinking *bool `json:"enable_thinking"`
		Thinking       *bool `json:"thinking"`
	} `json:"chat_template_kwargs"`
	Separate *bool `json:"separate_reasoning"`
}

// message is one of a chat.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // text, or parts with a text each
}

// defaultMaxTokens is sglang's default of /v1/completions.
const defaultMaxTokens = 16

// openai serves one of the OpenAI endpoints.
func (s *server) openai(chat bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		received := time.Now()
		var req openaiRequest
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req)
		var a ask
		if err == nil {
			a, err = s.readOpenAI(req, chat)
		}
		var c *call
		if err == nil {
			c, err = s.newCall(a, received)
		}
		if err != nil {
			_ = answerJSON(w, http.StatusBadRequest, openaiError(http.StatusBadRequest, err.Error()))
			return
		}
		f := newChunks(s, c, req, chat)
		s.generate(w, r, c, f)
	}
}

func (s *server) readOpenAI(req openaiRequest, chat bool) (ask, error) {
	a := ask{most: defaultMaxTokens, ignoreEOS: req.IgnoreEOS, stream: req.Stream, rid: req.RID}
	if req.N != nil && *req.N != 1 {
		return a, errors.New("the simulator makes one choice a request (n must be 1)")
	}
	if chat {
		prompt, err := template(req.Messages)
		if err != nil {
			return a, err
		}
		a.text = &prompt
		a.most = s.timing.setup.Context - len(textIDs(prompt)) // no limit asked: whatever fits
		a.thinking = s.thinks(req)
		a.parsed = !s.args.None("reasoning_parser") && (req.Separate == nil || *req.Separate)
	} else if err := readPrompt(req.Prompt, &a); err != nil {
		return a, err
	}
	for _, limit := range []*int{req.MaxTokens, req.MaxCompletion} {
		if limit != nil {
			a.most = *limit
		}
	}
	return a, nil
}

// thinks says whether the model reasons first: one that does by itself, or for
// which a parser of its reasoning is set, unless the chat template is told not
// to.
func (s *server) thinks(req openaiRequest) bool {
	for _, on := range []*bool{req.Template.EnableThinking, req.Template.Thinking} {
		if on != nil && !*on {
			return false
		}
	}
	return s.timing.model.Thinks || !s.args.None("reasoning_parser")
}

// template joins the messages of a chat in the manner of GLM's template.
func template(messages []message) (string, error) {
	if len(messages) == 0 {
		return "", errors.New("Messages cannot be empty.") //nolint:staticcheck // sglang's own words
	}
	var b strings.Builder
	b.WriteString("[gMASK]<sop>")
	for _, m := range messages {
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
		case json.Unmarshal(m.Content, &parts) == nil:
			for _, p := range parts {
				text += p.Text
			}
		default:
			return "", fmt.Errorf("the content of a message of role %q is neither text nor parts", m.Role)
		}
		fmt.Fprintf(&b, "<|%s|>\n%s", m.Role, text)
	}
	b.WriteString("<|assistant|>")
	return b.String(), nil
}

// readPrompt reads the prompt of /v1/completions.
func readPrompt(raw json.RawMessage, a *ask) error {
	var text string
	var texts []string
	var lists [][]int
	switch {
	case len(raw) == 0:
		return errors.New("Prompt cannot be empty.") //nolint:staticcheck // sglang's own words
	case json.Unmarshal(raw, &text) == nil:
		a.text = &text
	case json.Unmarshal(raw, &a.ids) == nil:
	case json.Unmarshal(raw, &texts) == nil && len(texts) == 1:
		a.ids, a.text = nil, &texts[0]
	case json.Unmarshal(raw, &lists) == nil && len(lists) == 1:
		a.ids = lists[0]
	default:
		return errors.New("the prompt is not one text or one list of token ids (the simulator takes one prompt a request)")
	}
	return nil
}

// openaiError is the OpenAI endpoints' shape of an error.
func openaiError(status int, why string) []byte {
	kind := map[int]string{http.StatusBadRequest: "BadRequestError", http.StatusServiceUnavailable: "ServiceUnavailableError"}[status]
	if kind == "" {
		kind = "InternalServerError"
	}
	body, _ := json.Marshal(map[string]any{"object": "error", "message": why, "type": kind, "param": nil, "code": status}) // always encodes
	return body
}
