package sim

import (
	"net/http"
	"strings"
	"testing"
)

// Endpoints of each version, and FastAPI's words for those that are not there.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for version, loads := range map[string]int{"0.5.6.post2": http.StatusNotFound, "0.5.17": http.StatusOK} {
		l := start(t, "--time-scale", "200", "--sglang-version", version).ready()
		for path, want := range map[string]int{
			"/health": 200, "/health_generate": 200, "/get_load": 200, "/v1/loads": loads, "/server_info": 200, "/get_server_info": 200,
			"/start_profile": 200, "/stop_profile": 200, "/freeze_gc": 200, "/flush_cache": 200, "/nonsense": 404, "/generate": 405,
		} {
			if status, text := l.get(path); status != want || status == 404 && text != `{"detail":"Not Found"}` || status == 405 && text != `{"detail":"Method Not Allowed"}` {
				t.Errorf("%s %s: %d %s", version, path, status, text)
			}
		}
		for path, want := range map[string]int{"/start_profile": 200, "/stop_profile": 200, "/abort_request": 200, "/nonsense": 404} {
			if status, text := l.raw(path, `{"rid":"x"}`); status != want {
				t.Errorf("%s POST %s: %d %s", version, path, status, text)
			}
		}
		if !strings.Contains(l.log.String(), "Endpoint '/get_server_info' is deprecated") {
			t.Errorf("%s: no deprecation warning", version)
		}
	}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "200", "--api-key", "secret").ready()
	for path, want := range map[string]int{"/health": 200, "/v1/models": 401, "/server_info": 401} {
		if status, _ := l.get(path); status != want {
			t.Errorf("%s without a key: %d", path, status)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	resp, err := l.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("with the key: %d", resp.StatusCode)
	}
}

// An aborted stream ends with what is there and the reason.
func TestAbortRequest(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]string{"one": `{"rid":"mine"}`, "all": `{"abort_all":true}`} {
		l := start(t, "--disable-radix-cache").ready()
		answer := make(chan string, 1)
		go func() {
			_, text := l.raw("/generate", `{"rid":"mine","text":"a","sampling_params":{"max_new_tokens":5000,"ignore_eos":true},"stream":true}`)
			answer <- text
		}()
		l.log.wait(t, `#new-token: 1,`)
		if status, _ := l.raw("/abort_request", order); status != http.StatusOK {
			t.Errorf("%s: %d", name, status)
		}
		if text := <-answer; !strings.Contains(text, `"finish_reason":{"type":"abort","message":"Aborted by AbortReq."`) || !ended(text) {
			t.Errorf("%s: %s", name, text)
		}
		if status, _ := l.get("/flush_cache?timeout=5"); status != http.StatusOK {
			t.Errorf("%s: the request still runs", name)
		}
	}
}

func TestFlushIsRefusedWhileRequestsRun(t *testing.T) {
	t.Parallel()
	l := start(t).ready()
	ended := make(chan error, 1)
	go func() { _, err := l.stream(body(1, 9, 60)); ended <- err }()
	l.log.wait(t, `#new-token: 9,`)
	if code, _ := l.get("/flush_cache"); code != http.StatusBadRequest {
		t.Errorf("flush while a request runs: %d", code)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if code, _ := l.get("/flush_cache"); code != http.StatusOK {
		t.Errorf("flush when idle: %d", code)
	}
}

// Since 0.5.10 a flush may wait for what runs.
func TestFlushWaits(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"0.5.9": http.StatusBadRequest, "0.5.10.post1": http.StatusOK} {
		l := start(t, "--sglang-version", version, "--time-scale", "2").ready()
		over := make(chan struct{})
		go func() { defer close(over); _, _ = l.stream(body(1, 9, 30)) }()
		l.log.wait(t, `#new-token: 9,`)
		if status, _ := l.get("/flush_cache?timeout=10"); status != want {
			t.Errorf("%s: %d", version, status)
		}
		<-over
	}
}
