package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// chunk is an event of the OpenAI endpoints.
type chunk struct {
	Object  string `json:"object"`
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Role      *string `json:"role"`
			Content   *string `json:"content"`
			Reasoning *string `json:"reasoning_content"`
		} `json:"delta"`
		Message struct {
			Content   string  `json:"content"`
			Reasoning *string `json:"reasoning_content"`
		} `json:"message"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Reasoning  int `json:"reasoning_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// chunks reads a stream to its [DONE].
func (l *live) chunks(path, body string) (list []chunk) {
	l.t.Helper()
	status, text := l.raw(path, body)
	if status != http.StatusOK || !ended(text) {
		l.t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
	for line := range strings.SplitSeq(text, "\n\n") {
		data := strings.TrimPrefix(line, "data: ")
		if data == "" || data == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			l.t.Fatalf("%s: %v", data, err)
		}
		list = append(list, c)
	}
	return list
}

// C26: reasoning comes as deltas of its own, then the answer; without a parser
// in the text; not at all when the template is told so.
func TestC26ChatReasons(t *testing.T) {
	t.Parallel()
	const ask = `{"messages":[{"role":"user","content":"What is the capital of France?"}],"stream":true,"stream_options":{"include_usage":true}`
	for name, c := range map[string]struct {
		args     string
		more     string
		thinks   bool // apart from the answer
		tagged   bool
		finish   string
		contents bool
	}{
		"parser":            {"--reasoning-parser glm45", ``, true, false, "stop", true},
		"cut while reasons": {"--reasoning-parser glm45", `,"max_tokens":20`, true, false, "length", false},
		"thinking off":      {"--reasoning-parser glm45", `,"chat_template_kwargs":{"enable_thinking":false}`, false, false, "stop", true},
		"parser not asked":  {"--reasoning-parser glm45", `,"separate_reasoning":false`, false, true, "stop", true},
		"no reasoning":      {"", ``, false, false, "stop", true},
		"glm5 by itself":    {"--preset glm5 --tp 8", ``, false, true, "stop", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, append([]string{"--time-scale", "200"}, strings.Fields(c.args)...)...).ready()
			var thought, content string
			list := l.chunks("/v1/chat/completions", ask+c.more+"}")
			for i, e := range list[:len(list)-1] {
				d := e.Choices[0].Delta
				if (d.Role != nil) != (i == 0) || e.Object != "chat.completion.chunk" || e.Usage != nil {
					t.Errorf("chunk %d: %+v", i, e)
				}
				if d.Reasoning != nil {
					thought += *d.Reasoning
					if content != "" {
						t.Error("reasoning after the answer")
					}
				}
				if d.Content != nil {
					content += *d.Content
				}
			}
			if f := list[len(list)-2].Choices[0].Finish; f == nil || *f != c.finish {
				t.Errorf("finish %v", f)
			}
			if (thought != "") != c.thinks || strings.Contains(content, thinkingEnd) != c.tagged || strings.Contains(content, "Paris") != c.contents {
				t.Errorf("thought %q, content %q", thought, content)
			}
			last := list[len(list)-1]
			if u := last.Usage; len(last.Choices) != 0 || u == nil || u.Total != u.Prompt+u.Completion ||
				(u.Reasoning > 0) != (c.thinks || c.tagged) || c.thinks && u.Reasoning != len(strings.Fields(thought)) {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

func TestUsageVariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, options string
		every, final  bool
	}{
		"none":          {"", ``, false, false},
		"asked":         {"", `,"stream_options":{"include_usage":true}`, false, true},
		"continuous":    {"", `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`, true, true},
		"by the server": {"--stream-response-default-include-usage", ``, false, true},
		"asked not to":  {"--stream-response-default-include-usage", `,"stream_options":{"include_usage":false}`, false, false},
	} {
		l := start(t, append([]string{"--time-scale", "200", "--enable-cache-report"}, strings.Fields(c.args)...)...).ready()
		list := l.chunks("/v1/completions", `{"prompt":[1,2,3,4,5],"max_tokens":12,"ignore_eos":true,"stream":true`+c.options+"}")
		words, n := "", 0
		for _, e := range list {
			switch {
			case len(e.Choices) == 0:
				n++
				if u := e.Usage; u == nil || u.Prompt != 5 || u.Completion != 12 || u.Total != 17 || u.Details == nil {
					t.Errorf("%s: usage %+v", name, u)
				}
			case (e.Usage != nil) != c.every || c.every && e.Usage.Completion != len(strings.Fields(words+e.Choices[0].Text)):
				t.Errorf("%s: chunk with usage %+v", name, e.Usage)
			default:
				words += e.Choices[0].Text
			}
		}
		if (n == 1) != c.final || len(strings.Fields(words)) != 12 {
			t.Errorf("%s: %d usage chunks, %q", name, n, words)
		}
	}
}

func TestOpenAIWholeAnswers(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "200", "--reasoning-parser", "glm45").ready()
	for body, want := range map[string]string{
		`{"prompt":"The capital of France is"}`:                   " Paris.",
		`{"prompt":["The capital of France is"],"max_tokens":40}`: " Paris.",
	} {
		var c chunk
		if _, text := l.raw("/v1/completions", body); json.Unmarshal([]byte(text), &c) != nil || len(c.Choices) != 1 || !strings.HasPrefix(c.Choices[0].Text, want) || c.Usage.Completion != 2 {
			t.Errorf("%s: %+v", body, c)
		}
	}
	var c chunk
	_, text := l.raw("/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"What is 2+2?"}]}]}`)
	if json.Unmarshal([]byte(text), &c) != nil || c.Choices[0].Message.Reasoning == nil || !strings.HasPrefix(c.Choices[0].Message.Content, " 4.") || *c.Choices[0].Finish != "stop" {
		t.Errorf("%s", text)
	}
	for path, bodies := range map[string][]string{
		"/v1/completions":      {`{}`, `{"prompt":["a","b"]}`, `{"prompt":"a","n":2}`, `{"prompt":"a","max_tokens":0}`, `not JSON`},
		"/v1/chat/completions": {`{}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":7}]}`, `{"messages":[{"role":"user","content":"a"}],"max_tokens":9999999}`},
	} {
		for _, body := range bodies {
			var e struct {
				Object, Message, Type string
				Code                  int
			}
			status, text := l.raw(path, body)
			if err := json.Unmarshal([]byte(text), &e); err != nil || status != 400 || e.Object != "error" || e.Code != 400 || e.Message == "" {
				t.Errorf("%s %s: %d %s", path, body, status, text)
			}
		}
	}
}
