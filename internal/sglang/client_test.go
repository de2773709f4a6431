package sglang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve answers each path with a handler on a real socket.
func serve(t *testing.T, paths map[string]http.HandlerFunc) *Client {
	t.Helper()
	mux := http.NewServeMux()
	for p, h := range paths {
		mux.HandleFunc(p, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c := NewClient(s.URL + "/")
	t.Cleanup(c.Close)
	return c
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestHealthAndModels(t *testing.T) {
	c := serve(t, map[string]http.HandlerFunc{
		"/health":    answer(503, ""),
		"/v1/models": answer(200, `{"object":"list","data":[{"id":"glm-5","object":"model","max_model_len":8192}]}`),
	})
	if status, err := c.Health(t.Context()); status != 503 || err != nil {
		t.Errorf("health %d, %v", status, err)
	}
	if ids, err := c.Models(t.Context()); err != nil || !cmp.Equal(ids, []string{"glm-5"}) {
		t.Errorf("models %v, %v", ids, err)
	}
	if _, err := NewClient("http://127.0.0.1:1").Health(t.Context()); !IsTransport(err) {
		t.Errorf("from a closed port: %v", err)
	}
	broken := serve(t, map[string]http.HandlerFunc{"/health": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }})
	if _, err := broken.Health(t.Context()); !IsTransport(err) {
		t.Errorf("from a connection that breaks: %v", err)
	}
	if _, err := c.Generate(t.Context(), []int{1}, 1); err == nil || IsTransport(err) {
		t.Errorf("from an answer: %v", err)
	}
}

func TestGenerate(t *testing.T) {
	const good = `{"text":" Paris","output_ids":[1,2],"meta_info":{"id":"x","finish_reason":{"type":"length","length":2},"prompt_tokens":3,"completion_tokens":2,"cached_tokens":0}}`
	rows := []struct {
		name   string
		status int
		body   string
		want   string // in the error; empty: none
	}{
		{"good", 200, good, ""},
		{"error object", 200, `{"error":{"message":"too\u001b[31m long"}}`, "too long"},
		{"error text", 400, `{"error":"no"}`, "HTTP 400: no"},
		{"scheduler abort", 503, `{"object":"error","message":"aborted by the scheduler","type":"x","code":503}`, "HTTP 503: aborted by the scheduler"},
		{"detail", 404, `{"detail":"Not Found"}`, "HTTP 404: Not Found"},
		{"list of details", 422, `{"detail":[{"loc":["x"]}]}`, `[{"loc":["x"]}]`},
		{"error with 200", 200, `{"object":"error","message":"no"}`, "no"},
		{"abort", 200, `{"text":"","meta_info":{"finish_reason":{"type":"abort","message":"out of memory"},"completion_tokens":1}}`, "aborted: out of memory"},
		{"no token", 200, `{"text":"","meta_info":{"finish_reason":null,"prompt_tokens":3,"completion_tokens":0}}`, "without a single token"},
		{"empty object", 200, `{}`, "without a single token"},
		{"no JSON", 200, `<html>`, "decode"},
		{"a list", 200, `[1]`, "decode"},
		{"proxy's page", 502, "<html>\x1b[1m bad gateway", "HTTP 502: <html> bad gateway"},
		{"nothing", 500, "", "HTTP 500"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var asked map[string]any
			c := serve(t, map[string]http.HandlerFunc{"POST /generate": func(w http.ResponseWriter, r *http.Request) {
				_ = json.NewDecoder(r.Body).Decode(&asked)
				answer(row.status, row.body)(w, r)
			}})
			g, err := c.Generate(t.Context(), []int{1, 2, 3}, 2)
			if row.want != "" {
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Fatalf("error %v, want one with %q", err, row.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := (Generation{Text: " Paris", PromptTokens: 3, CompletionTokens: 2, Finish: "length"}); g != want {
				t.Errorf("got %+v, want %+v", g, want)
			}
			sampling := asked["sampling_params"].(map[string]any)
			if sampling["max_new_tokens"] != 2.0 || asked["stream"] != false || len(asked["input_ids"].([]any)) != 3 {
				t.Errorf("asked %v", asked)
			}
		})
	}
}

func TestGenerateEndsWithItsContext(t *testing.T) {
	c := serve(t, map[string]http.HandlerFunc{"/generate": func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // lets net/http notice that the client left
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Generate(ctx, []int{1}, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

const info = `{"version":"0.5.17","model_path":"/models/GLM-5","tp_size":8,"mem_fraction_static":0.85,"api_key":"sk-verysecretverysecret","admin_api_key":"x",
 "ssl_keyfile":"/etc/k","ssl_keyfile_password":"pw","hf_token":"hf_abcdefghijklmnopqrstu","max_prefill_tokens":16384,"tokenizer_path":"/models/GLM-5","speculative_token_map":"/m.pt",
 "cuda_graph_bs":[1,2,4],"nested":{"a":1},"rows":[[1]],"dist_init_addr":"tcp://user:pw@10.0.0.1:5000","lora_paths":null,"trust_remote_code":true,
 "json_model_override_args":"{\"password\": \"pw\", \"x\": 1}","served_model_name":"glm\u001b[31m","max_running_requests":null,
 "max_total_num_tokens":314304,"startup_time_seconds":3.5,"status":"ready","vocab_size":154880,
 "internal_states":[{"effective_max_running_requests_per_dp":64,"last_gen_throughput":5.5}]}`

func TestServerInfo(t *testing.T) {
	n := func(x int) *int { return &x }
	want := Resolved{Version: "0.5.17", ModelPath: "/models/GLM-5", MaxTotalTokens: n(314304), MaxRunningRequests: n(64), VocabSize: n(154880),
		Args: map[string]any{"model_path": "/models/GLM-5", "tp_size": 8.0, "mem_fraction_static": 0.85, "max_prefill_tokens": 16384.0,
			"tokenizer_path": "/models/GLM-5", "speculative_token_map": "/m.pt", "cuda_graph_bs": []any{1.0, 2.0, 4.0},
			"dist_init_addr": "tcp://[removed]@10.0.0.1:5000", "lora_paths": nil, "trust_remote_code": true,
			"json_model_override_args": `{"password": "[removed]", "x": 1}`, "served_model_name": "glm", "max_running_requests": nil}}
	for _, path := range []string{"/server_info", "/get_server_info"} {
		c := serve(t, map[string]http.HandlerFunc{path: answer(200, info)})
		got, err := c.ServerInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		// What is kept must compare equal after it was written and read.
		var again Resolved
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Error(diff)
		}
	}
	c := serve(t, map[string]http.HandlerFunc{"/server_info": answer(200, `{"simulated":true,"max_running_requests":4096,"internal_states":[{"vocab_size":7}]}`)})
	got, err := c.ServerInfo(t.Context())
	if err != nil || !got.Simulated || *got.MaxRunningRequests != 4096 || *got.VocabSize != 7 || got.MaxTotalTokens != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for body, want := range map[string]bool{`{"disable_radix_cache":true}`: true, `{"disable_radix_cache":false}`: false, `{}`: false, `{"disable_radix_cache":"true"}`: false} {
		c = serve(t, map[string]http.HandlerFunc{"/server_info": answer(200, body)})
		if got, err := c.ServerInfo(t.Context()); err != nil || got.NoPrefixCache() != want {
			t.Errorf("%s: no prefix cache %v, %v", body, got.NoPrefixCache(), err)
		}
	}
	c = serve(t, map[string]http.HandlerFunc{"/server_info": answer(500, `{}`)})
	if _, err := c.ServerInfo(t.Context()); err == nil {
		t.Error("no error from HTTP 500")
	}
	c = serve(t, map[string]http.HandlerFunc{"/server_info": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.CopyN(w, endless{}, maxBody+2)
	}})
	if _, err := c.ServerInfo(t.Context()); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an endless answer: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestKeyAndRedirects(t *testing.T) {
	other := httptest.NewServer(answer(200, "{}"))
	defer other.Close()
	c := serve(t, map[string]http.HandlerFunc{
		"/v1/models": func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"data":[{"id":%q}]}`, r.Header.Get("Authorization"))
		},
		"/health":      http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP,
		"/server_info": http.RedirectHandler("/server_info", http.StatusFound).ServeHTTP,
	})
	if ids, err := c.WithKey("k1").Models(t.Context()); err != nil || ids[0] != "Bearer k1" {
		t.Errorf("got %v, %v", ids, err)
	}
	if _, err := c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a redirect to another host: %v", err)
	}
	if _, err := c.ServerInfo(t.Context()); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Errorf("a redirect without end: %v", err)
	}
}
