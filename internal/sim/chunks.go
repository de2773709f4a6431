package sim

import (
	"encoding/json"
	"strconv"
	"time"
)

// chunks is the form of the OpenAI endpoints: new text only in each event, in a
// chat the reasoning apart from the answer, usage as it was asked for.
type chunks struct {
	server *server
	call   *call
	chat   bool
	final  bool // a last chunk with the usage and no choices
	always bool // usage in every chunk
	head   []byte
	buf    []byte
	sent   int
}

func newChunks(s *server, c *call, req openaiRequest, chat bool) *chunks {
	f := &chunks{server: s, call: c, chat: chat, final: s.args.Bool("stream_response_default_include_usage")}
	if o := req.Options; o != nil {
		f.always = o.ContinuousUsage
		if o.IncludeUsage != nil {
			f.final = *o.IncludeUsage
		}
	}
	model := req.Model
	if model == "" {
		model = s.args.Text("served_model_name")
	}
	object := "text_completion"
	if chat {
		object = "chat.completion.chunk"
	}
	head, _ := json.Marshal(map[string]any{"id": c.id, "object": object, "created": c.received.Unix(), "model": model}) // always encodes
	f.head = append([]byte("data: "), head[:len(head)-1]...)
	return f
}

// upTo returns the chunks for the tokens from the last call's to n.
func (f *chunks) upTo(n int) []byte {
	b := f.buf[:0]
	if f.chat && f.sent == 0 {
		b = f.chunk(b, `"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null}`, "", 0)
	}
	for f.sent < n {
		to := n
		if f.reasons(f.sent) {
			to = min(n, f.call.thinking)
		}
		finish := ""
		if !f.chat && to == f.call.seq.Output {
			finish = f.finish()
		}
		b = f.chunk(b, f.text(f.sent, to), finish, to)
		f.sent = to
	}
	if f.chat && n == f.call.seq.Output {
		b = f.chunk(b, `"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":null}`, f.finish(), n)
	}
	f.buf = b
	return b
}

func (f *chunks) abort(n int, why string) []byte {
	b := f.upTo(n)
	text := `"text":""`
	if f.chat {
		text = `"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":null}`
	}
	return f.chunk(b, text, `"abort"`, n)
}

// tail is the chunk with the usage.
func (f *chunks) tail() []byte {
	if !f.final {
		return nil
	}
	b := append(append([]byte(nil), f.head...), `,"choices":[],"usage":`...)
	return append(f.usage(b, f.call.seq.Output), "}\n\n"...)
}

func (f *chunks) fail(status int, why string) []byte {
	body := openaiError(status, why)
	if f.sent == 0 && !f.call.stream {
		return body
	}
	return append(append([]byte(`{"error":`), body...), '}')
}

// whole is the answer without a stream.
func (f *chunks) whole(n int, why string, _ time.Time) ([]byte, error) {
	finish := f.finish()
	if why != "" {
		finish = `"abort"`
	}
	var thought, text string
	for k := range n {
		piece, _ := f.server.pieces.at(f.call, k)
		if f.reasons(k) {
			thought += piece
		} else {
			text += piece
		}
	}
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": json.RawMessage(finish), "matched_stop": nil}
	object := "text_completion"
	if f.chat {
		object = "chat.completion"
		m := map[string]any{"role": "assistant", "content": text, "reasoning_content": nil, "tool_calls": nil}
		if thought != "" {
			m["reasoning_content"] = thought
		}
		choice["message"] = m
	} else {
		choice["text"] = text
	}
	return json.Marshal(map[string]any{
		"id": f.call.id, "object": object, "created": f.call.received.Unix(), "model": f.server.args.Text("served_model_name"),
		"choices": []any{choice}, "usage": json.RawMessage(f.usage(nil, n)), "metadata": map[string]any{"weight_version": weightVersion},
	})
}

// chunk appends one event; n is how many tokens there are with it.
func (f *chunks) chunk(b []byte, what, finish string, n int) []byte {
	if finish == "" {
		finish = "null"
	}
	b = append(b, f.head...)
	b = append(b, `,"choices":[{"index":0,`...)
	b = append(b, what...)
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	b = append(b, finish...)
	b = append(b, `,"matched_stop":null}],"usage":`...)
	if f.always {
		b = f.usage(b, n)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}\n\n"...)
}

// text is the part of a chunk that carries some tokens.
func (f *chunks) text(from, to int) string {
	var b []byte
	for k := from; k < to; k++ {
		piece, _ := f.server.pieces.at(f.call, k)
		b = append(b, piece...)
	}
	switch text := `"` + string(b) + `"`; {
	case !f.chat:
		return `"text":` + text
	case f.reasons(from):
		return `"delta":{"role":null,"content":null,"reasoning_content":` + text + `,"tool_calls":null}`
	default:
		return `"delta":{"role":null,"content":` + text + `,"reasoning_content":null,"tool_calls":null}`
	}
}

// reasons says whether the k-th token is told apart as reasoning.
func (f *chunks) reasons(k int) bool { return k < f.call.thinking && !f.call.tagged }

func (f *chunks) finish() string {
	if f.call.natural {
		return `"stop"`
	}
	return `"length"`
}

// usage appends the usage after n tokens.
func (f *chunks) usage(b []byte, n int) []byte {
	number := func(name string, v int) {
		b = append(b, name...)
		b = strconv.AppendInt(b, int64(v), 10)
	}
	number(`{"prompt_tokens":`, f.call.prompt)
	number(`,"total_tokens":`, f.call.prompt+n)
	number(`,"completion_tokens":`, n)
	if f.server.args.Bool("enable_cache_report") {
		number(`,"prompt_tokens_details":{"cached_tokens":`, f.call.seq.Cached)
		b = append(b, '}')
	} else {
		b = append(b, `,"prompt_tokens_details":null`...)
	}
	number(`,"reasoning_tokens":`, min(n, f.call.thinking))
	return append(b, '}')
}
