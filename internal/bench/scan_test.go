package bench

import (
	"encoding/json"
	"testing"
)

func TestScan(t *testing.T) {
	none := said{output: -1, prompt: -1, cached: -1}
	for name, c := range map[string]struct {
		event string
		want  said
	}{
		"sglang": {`{"text": "Hi", "output_ids": [1, 2], "meta_info": {"id": "ab", "finish_reason": null, "prompt_tokens": 38, "weight_version": "default", "completion_tokens": 2, "cached_tokens": 1}}`,
			said{output: 2, prompt: 38, cached: 1, text: true}},
		"compact":          {`{"text":"","meta_info":{"finish_reason":null,"prompt_tokens":38,"completion_tokens":0,"cached_tokens":0}}`, said{output: 0, prompt: 38, cached: 0}},
		"finish object":    {`{"text":"x","meta_info":{"finish_reason":{"type": "length","length":5},"completion_tokens":5}}`, said{output: 5, prompt: -1, cached: -1, finish: "length", text: true}},
		"finish by string": {`{"choices":[{"text":"x","finish_reason":"stop"}],"usage":null}`, said{output: -1, prompt: -1, cached: -1, finish: "stop", text: true}},
		"abort":            {`{"text":"","meta_info":{"finish_reason":{"type":"abort","message":"Aborted","status_code":500},"completion_tokens":3}}`, said{output: 3, prompt: -1, cached: -1, finish: "abort", failed: true}},
		"done":             {`[DONE]`, said{output: -1, prompt: -1, cached: -1, over: true}},
		"error object":     {`{"error": {"message": "out of memory", "type": "x"}}`, said{output: -1, prompt: -1, cached: -1, failed: true}},
		"error of a kind":  {`{"object":"error","message":"too long","code":400}`, said{output: -1, prompt: -1, cached: -1, failed: true}},
		"error null":       {`{"error":null,"text":"x"}`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"chat content":     {`{"choices":[{"delta":{"role":"assistant","content":"x"},"finish_reason":null}]}`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"reasoning":        {`{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"role only":        {`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, none},
		"usage at the end": {`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":4},"prompt_tokens_details":{"cached_tokens":2}}}`, said{output: 9, prompt: 7, cached: 2}},
		"completions with running usage": {`{"id":"c1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" a","logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":{"prompt_tokens":7,"total_tokens":10,"completion_tokens":3,"prompt_tokens_details":null,"reasoning_tokens":0}}`,
			said{output: 3, prompt: 7, cached: -1, text: true}},
		"chat of reasoning, running usage": {`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":"hm","tool_calls":null},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`,
			said{output: 2, prompt: 9, cached: 4, text: true}},
		"chat, reasoning by its short name": {`{"choices":[{"delta":{"reasoning":"hm","content":""}}],"usage":null}`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"chat, the end":                     {`{"choices":[{"index":0,"delta":{"content":null},"finish_reason":"length"}],"usage":null}`, said{output: -1, prompt: -1, cached: -1, finish: "length"}},
		"keys in the text":                  {`{"text":"{\"completion_tokens\": 99, \"error\": {}, \"finish_reason\":\"abort\"}\\","meta_info":{"completion_tokens": 3}}`, said{output: 3, prompt: -1, cached: -1, text: true}},
		"keys as values":                    {`{"a":"completion_tokens","b":"error","text":"finish_reason"}`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"spaces":                            {`{"completion_tokens" :  12 , "text" : "x"}`, said{output: 12, prompt: -1, cached: -1, text: true}},
		"no number":                         {`{"completion_tokens":null,"prompt_tokens":"5","cached_tokens":-3}`, none},
		"beyond any count":                  {`{"completion_tokens":99999999999999999999}`, none},
		"cut":                               {`{"text":"abc\"`, said{output: -1, prompt: -1, cached: -1, text: true}},
		"not JSON":                          {`keep-alive`, none},
		"empty":                             {``, none},
	} {
		if got := scan([]byte(c.event)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestComplaint(t *testing.T) {
	for event, want := range map[string]string{
		`{"error": {"message": "KV cache pool is full.\u001b[31m\nretry"}}`: "KV cache pool is full. [31m retry",
		`{"error": "plain"}`:                      `"plain"`,
		`{"object":"error","message":"too long"}`: "too long",
		`{"meta_info":{"finish_reason":{"type":"abort","message":"Aborted by watchdog"}}}`: "Aborted by watchdog",
		`{"error": `: `{"error":`,
	} {
		if got := complaint([]byte(event)); got != want {
			t.Errorf("%s: %q, want %q", event, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[2Jb\r\n\tc\x00": "a [2Jb c", "\x9bm\u202ex": "?m x", "äöü": "äöü", "": "",
		"0123456789ä12": "0123456789 …", // the cut falls into a character
	} {
		if got := clean([]byte(text), 11); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever the text of an event is, the scan finds what a JSON decoder finds.
func FuzzScan(f *testing.F) {
	f.Add("hi", 3, "length", []byte(`{"text":"\\\"","completion_tokens":1`))
	f.Add(`"completion_tokens": 9, \`, 0, "abort", []byte(`"":"\`))
	f.Add("\\\\\"error\":", 123456, "", []byte(`[DONE]`))
	f.Fuzz(func(t *testing.T, text string, tokens int, finish string, raw []byte) {
		scan(raw) // must not panic
		complaint(raw)

		if tokens < 0 || tokens > 999999999 {
			return
		}
		event, err := json.Marshal(map[string]any{"text": text, "meta_info": map[string]any{
			"finish_reason": map[string]any{"type": "length", "matched": text}, "completion_tokens": tokens, "prompt_tokens": 7, "id": finish}})
		if err != nil {
			t.Skip()
		}
		want := said{output: tokens, prompt: 7, cached: -1, finish: "length", text: text != ""}
		if got := scan(event); got != want {
			t.Fatalf("%s: %+v, want %+v", event, got, want)
		}
	})
}
