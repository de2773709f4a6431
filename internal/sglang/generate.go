package sglang

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Generation is one finished generation as the server counted it.
type Generation struct {
	Text             string // as the server sent it: strip it with Plain before it is shown
	PromptTokens     int
	CompletionTokens int
	Finish           string // "length" or "stop"
}

// Generate makes one generation of up to maxTokens (the end-of-text token is
// ignored), not streamed. An error object, an abort and an answer without a
// single token are errors, an *APIError where the server told why.
func (c *Client) Generate(ctx context.Context, inputIDs []int, maxTokens int) (Generation, error) {
	const path = "/generate"
	in := map[string]any{
		"input_ids": inputIDs,
		"sampling_params": map[string]any{
			"temperature": 0, "max_new_tokens": maxTokens, "ignore_eos": true,
		},
		"stream": false,
	}
	var raw json.RawMessage
	if err := c.ask(ctx, GenerateTimeout, http.MethodPost, path, in, &raw); err != nil {
		return Generation{}, err
	}
	var out struct {
		Text   string          `json:"text"`
		Object string          `json:"object"`
		Error  json.RawMessage `json:"error"`
		Meta   struct {
			Prompt     int             `json:"prompt_tokens"`
			Completion int             `json:"completion_tokens"`
			Finish     json.RawMessage `json:"finish_reason"`
		} `json:"meta_info"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return Generation{}, fmt.Errorf("decode the answer of %s: %w", path, err)
	}
	if out.Object == "error" || len(out.Error) > 0 && string(out.Error) != "null" {
		return Generation{}, &APIError{Path: path, Status: http.StatusOK, Message: message(raw)}
	}
	reason, told := finish(out.Meta.Finish)
	if reason == "abort" {
		return Generation{}, &APIError{Path: path, Status: http.StatusOK, Message: "aborted: " + told}
	}
	if out.Meta.Completion < 1 {
		return Generation{}, fmt.Errorf("%s answered without a single token", path)
	}
	return Generation{Text: out.Text, PromptTokens: out.Meta.Prompt, CompletionTokens: out.Meta.Completion, Finish: reason}, nil
}

// finish reads a finish reason: an object in sglang's own API, a word in some
// versions.
func finish(raw json.RawMessage) (reason, told string) {
	var object struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Type != "" {
		return Plain(object.Type), cut(Plain(object.Message), maxKept)
	}
	var word string
	_ = json.Unmarshal(raw, &word) // null stays empty
	return Plain(word), ""
}
