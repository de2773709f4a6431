package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// B01, B02: what is wrong with the text, and that counts stay right.
func TestB01GarbageText(t *testing.T) {
	t.Parallel()
	text := func(fault, prompt string, n int) string {
		args := []string{"--time-scale", "200"}
		if fault != "" {
			args = append(args, "--fault", fault)
		}
		l := start(t, args...).ready()
		_, got := l.raw("/generate", fmt.Sprintf(`{"text":%q,"sampling_params":{"max_new_tokens":%d,"ignore_eos":true}}`, prompt, n))
		var a event
		if err := json.Unmarshal([]byte(got), &a); err != nil || a.Meta.Completion != n {
			t.Errorf("%s: %s %v", fault, got, err)
		}
		return a.Text
	}
	const asked = "The capital of France is"
	if got := text("garbage:symbol", asked, 20); got != strings.Repeat("+", 20) {
		t.Errorf("symbol: %q", got)
	}
	if got := text("garbage:empty", asked, 20); got != "" {
		t.Errorf("empty: %q", got)
	}
	if got := text("garbage:salad", asked, 20); strings.Contains(got, "Paris") || len(strings.Fields(got)) != 20 {
		t.Errorf("salad: %q", got)
	}
	words := strings.Fields(text("garbage:loop", asked, 400))
	if words[0] != "Paris." || distinct(words[:150]) < 80 || distinct(words[152:]) > 4 {
		t.Errorf("loop: %v", words)
	}
	if sane := strings.Fields(text("", asked, 400)); distinct(sane[200:]) < 100 {
		t.Errorf("sane: %v", sane)
	}
}

func distinct(words []string) int {
	seen := map[string]bool{}
	for _, w := range words {
		seen[w] = true
	}
	return len(seen)
}

// C24, C25: lengths that are not what was asked or told.
func TestC24LengthsAreIgnored(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "100", "--fault", "short", "--fault", "prompt-tokens:1.08").ready()
	r, err := l.stream(body(1, 1000, 100))
	if m := r.final().Meta; err != nil || m.Completion != 43 || m.Finish == nil || m.Finish.Type != "stop" || m.Prompt != 1080 {
		t.Errorf("%+v %v", m, err)
	}
}

// A13, A16, D10: what the server says of itself is not what was asked for.
func TestA16ServerInfoDiffers(t *testing.T) {
	t.Parallel()
	args := []string{"--time-scale", "100", "--max-running-requests", "64"}
	for fault, want := range map[string]map[string]any{
		"":              {"max_running_requests": 64.0, "model_path": "m"},
		"flags-ignored": {"max_running_requests": 2048.0, "model_path": "m"},
		"foreign:other": {"max_running_requests": 64.0, "model_path": "other", "served_model_name": "other"},
		"flags-ignored:max-running-requests=4096":    {"max_running_requests": 4096.0},
		"flags-ignored:attention_backend=trtllm_mla": {"attention_backend": "trtllm_mla"},
	} {
		run := args
		if fault != "" {
			run = append(run[:len(run):len(run)], "--fault", fault)
		}
		l := start(t, run...)
		_, text := l.get("/server_info")
		var info map[string]any
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			if info[name] != v {
				t.Errorf("%s: %s is %v, want %v", fault, name, info[name], v)
			}
		}
		if _, models := l.get("/v1/models"); want["served_model_name"] != nil && !strings.Contains(models, `"id":"other"`) {
			t.Errorf("%s: %s", fault, models)
		}
	}
}
