package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestServerInfoAndMetrics(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "20", "--tp", "2", "--max-running-requests", "64", "--enable-metrics", "--random-seed", "1").ready()
	for _, path := range []string{"/server_info", "/get_server_info"} {
		_, text := l.get(path)
		var info map[string]any
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]any{
			"tp_size": 2.0, "pp_size": 1.0, "model_path": "m", "served_model_name": "m", "simulated": true, "version": "0.5.10.post1",
			"vocab_size": 128256.0, "max_running_requests": 64.0, "cuda_graph_max_bs": 64.0, "attention_backend": "flashinfer",
			"random_seed": 1.0, "disable_cuda_graph": false, "kv_cache_dtype": "bfloat16",
		} {
			if info[name] != want {
				t.Errorf("%s %s: %v, want %v", path, name, info[name], want)
			}
		}
		if _, ok := info["max_total_num_tokens"].(float64); !ok {
			t.Error("no max_total_num_tokens")
		}
	}
	l.burst(2, 10, 50)
	_, text := l.get("/metrics")
	for _, want := range []string{"sglang:generation_tokens_total{", "} 108\n", "sglang:prompt_tokens_total{", "} 28\n", "sglang:time_to_first_token_seconds_bucket{le=\"0.1\","} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in /metrics:\n%s", want, text)
		}
	}
	if code, _ := start(t, "--time-scale", "50").get("/metrics"); code != http.StatusNotFound {
		t.Errorf("/metrics without --enable-metrics: %d", code)
	}
}
