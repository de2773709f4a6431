package sim

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestA02ModelsIsNotReady(t *testing.T) {
	l := start(t, "--time-scale", "50", "--startup-scale", "0.4") // a warm-up of 0.1 s
	if code, _ := l.get("/v1/models"); code != http.StatusOK {
		t.Errorf("/v1/models while starting: %d", code)
	}
	if code, _ := l.get("/health"); code != http.StatusServiceUnavailable {
		t.Errorf("/health while starting: %d", code)
	}
	l.ready()
	if code, _ := l.get("/health"); code != http.StatusOK {
		t.Errorf("/health after the warm-up: %d", code)
	}
}

func TestStreamCountsTokens(t *testing.T) {
	truth := filepath.Join(t.TempDir(), "truth.jsonl")
	t.Setenv("SWEEP_SIM_TRUTH", truth)
	l := start(t, "--time-scale", "20").ready()
	r, err := l.stream(body(7, 100, 40))
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for _, e := range r.events {
		if !strings.HasPrefix(e.Text, before) || len(e.Text) <= len(before) {
			t.Fatalf("text is not cumulative: %q then %q", before, e.Text)
		}
		before = e.Text
	}
	m := r.final().Meta
	if !r.done || m.Prompt != 100 || m.Completion != 40 || m.Finish == nil || m.Finish.Type != "length" || m.Finish.Length != 40 || m.Cached != 0 {
		t.Errorf("last event: %+v", r.final())
	}
	if n := len(strings.Fields(before)); n != 40 {
		t.Errorf("%d words for 40 tokens", n)
	}
	if r, err = l.stream(body(7, 100, 2)); err != nil || r.final().Meta.Cached != 99 {
		t.Errorf("repeated prompt: %+v %v", r.events, err)
	}
	if code, _ := l.get("/flush_cache"); code != http.StatusOK {
		t.Errorf("flush: %d", code)
	}
	if r, err = l.stream(body(7, 100, 2)); err != nil || r.final().Meta.Cached != 0 {
		t.Errorf("after the flush: %+v %v", r.events, err)
	}

	data, err := os.ReadFile(truth)
	if err != nil {
		t.Fatal(err)
	}
	var line struct {
		Received, First, Last, Queued int64
		Tokens                        int
		Prompt                        int `json:"prompt_tokens"`
	}
	if err := json.Unmarshal(data[:slices.Index(data, '\n')], &line); err != nil {
		t.Fatal(err)
	}
	if line.Tokens != 40 || line.Prompt != 100 || line.Received >= line.First || line.First >= line.Last || line.Queued < 0 {
		t.Errorf("truth: %s", data)
	}
}

func TestIncrementalStreamSendsDeltas(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "10", "--incremental-streaming-output", "--disable-radix-cache").ready()
	var text string
	r, err := l.stream(body(1, 8, 20))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.events {
		text += e.Text
	}
	if len(r.events) < 2 || len(strings.Fields(text)) != 20 {
		t.Errorf("%d events, %q", len(r.events), text)
	}
	if r, err = l.stream(body(1, 8, 2)); err != nil || r.final().Meta.Cached != 0 {
		t.Errorf("cached without a prefix cache: %+v %v", r.events, err)
	}
}

func TestStreamIntervalBundlesTokens(t *testing.T) {
	l := start(t, "--time-scale", "2", "--stream-interval", "8").ready()
	r, err := l.stream(body(1, 8, 20))
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, e := range r.events {
		counts = append(counts, e.Meta.Completion)
	}
	if !slices.Equal(counts, []int{1, 9, 17, 20}) {
		t.Errorf("tokens at events: %v", counts)
	}
}

func TestWholeAnswersAndNaturalStop(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "20").ready()
	resp, err := l.client.Post(l.url+"/generate", "application/json",
		strings.NewReader(`{"text":"The capital of France is","sampling_params":{"max_new_tokens":32}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Text string
		IDs  []int `json:"output_ids"`
		Meta struct {
			Finish  struct{ Type string } `json:"finish_reason"`
			Latency float64               `json:"e2e_latency"`
			Prompt  int                   `json:"prompt_tokens"`
		} `json:"meta_info"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Text, " Paris.") || got.Meta.Finish.Type != "stop" || len(got.IDs) != 2 || got.Meta.Latency <= 0 || got.Meta.Prompt != 6 {
		t.Errorf("%+v", got)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "20").ready()
	for name, request := range map[string]string{
		"no prompt":         `{"sampling_params":{}`,
		"neither":           `{"stream":false}`,
		"batch":             `{"text":["a","b"]}`,
		"outside the vocab": `{"input_ids":[1,999999]}`,
		"too long":          `{"text":"a","sampling_params":{"max_new_tokens":99999999}}`,
		"no tokens":         `{"text":"a","sampling_params":{"max_new_tokens":0}}`,
	} {
		resp, err := l.client.Post(l.url+"/generate", "application/json", strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Error struct{ Message string } }
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != 400 || got.Error.Message == "" {
			t.Errorf("%s: %s %+v %v", name, resp.Status, got, err)
		}
		resp.Body.Close()
	}
	// In a stream the same refusal is an event with status 200.
	r, err := l.stream(`{"input_ids":[-1],"stream":true}`)
	if err != nil || len(r.events) != 1 || r.events[0].Error == nil || !r.done {
		t.Errorf("stream: %+v %v", r, err)
	}
}

func TestClientThatLeavesIsTakenOut(t *testing.T) {
	t.Parallel()
	l := start(t).ready()
	resp, err := l.client.Post(l.url+"/generate", "application/json", strings.NewReader(body(1, 8, 5000)))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = resp.Body.Read(make([]byte, 10))
	resp.Body.Close()
	deadline := time.Now().Add(5 * time.Second)
	for {
		if code, _ := l.get("/flush_cache"); code == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server still works for a client that left")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
