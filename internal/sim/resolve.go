package sim

import (
	"encoding/json"
	"math/rand/v2"
)

// resolve turns the arguments that were asked for into the ones that are in
// effect, as sglang does at start; /server_info and the log show the result.
func resolve(asked Args, t Timing) Args {
	a, s := asked.clone(), t.setup
	a.Set("tp_size", s.TP)
	a.Set("pp_size", s.PP)
	a.Set("dp_size", s.DP)
	a.Set("mem_fraction_static", s.MemFraction)
	a.Set("chunked_prefill_size", s.ChunkedPrefill)
	a.Set("max_prefill_tokens", s.MaxPrefill)
	a.Set("page_size", s.PageSize)
	a.Set("context_length", s.Context)
	a.Set("kv_cache_dtype", s.KVDtype)
	a.Set("attention_backend", s.Attention)
	a.Set("moe_runner_backend", s.MoERunner)
	a.Set("disable_overlap_schedule", s.NoOverlap)
	a.Set("max_running_requests", t.MaxRunning()/s.DP)
	suffix := ""
	if t.dialect.from(14) {
		suffix = "_decode"
	}
	if !s.GraphsOff {
		a.Set("cuda_graph_max_bs"+suffix, t.Captured())
		a.Set("cuda_graph_bs"+suffix, t.capture)
	}
	if s.Spec.on() {
		a.Set("speculative_num_steps", s.Spec.Steps)
		a.Set("speculative_eagle_topk", s.Spec.TopK)
		a.Set("speculative_num_draft_tokens", s.Spec.Drafts)
	}
	a.Set("schedule_conservativeness", s.Conservativeness)
	for name, from := range map[string]string{"tokenizer_path": "model_path", "served_model_name": "model_path"} {
		if a.None(name) {
			a.Set(name, a.Text(from))
		}
	}
	if a.None("random_seed") {
		a.Set("random_seed", rand.IntN(1<<30)) // sglang draws one too
	}
	return a
}

// warnings are the lines about arguments that sglang logs before it prints
// them.
func warnings(asked Args, t Timing) []string {
	var list []string
	if t.setup.PP > 1 {
		list = append(list, "Pipeline parallelism is incompatible with overlap schedule.")
	}
	if t.model.PageSize > 1 {
		list = append(list, "Setting page size to 64 for DeepSeek DSA.")
	}
	if n := asked.Int("speculative_num_draft_tokens"); n > 0 && n != t.setup.Spec.Drafts {
		list = append(list, "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 when speculative_eagle_topk == 1")
	}
	if asked.None("attention_backend") {
		list = append(list, "Attention backend not specified. Use "+t.setup.Attention+" backend by default.")
	}
	return list
}

// serverInfo is the answer of /server_info: resolved arguments flat, what the
// scheduler says, and the mark that this is a simulation.
func (s *server) serverInfo() ([]byte, error) {
	info := make(map[string]any, len(s.args.names)+10)
	for _, n := range s.args.names {
		info[n] = s.args.values[n]
	}
	for name, value := range s.opt.faults.altered {
		info[name] = value
		if json.Valid([]byte(value)) {
			info[name] = json.RawMessage(value)
		}
	}
	if f := s.opt.faults.foreign; f != "" {
		info["model_path"], info["tokenizer_path"], info["served_model_name"] = f, f, f
	}
	st := s.engine.state()
	info["port"] = s.port
	info["version"] = s.opt.version
	info["simulated"] = true
	info["vocab_size"] = s.timing.model.Vocab
	info["max_total_num_tokens"] = s.timing.KVTokens()
	info["max_req_input_len"] = s.maxInput()
	info["status"] = "ready"
	dp := s.timing.setup.DP
	states := make([]map[string]any, dp)
	for i := range states {
		states[i] = map[string]any{
			"last_gen_throughput": st.throughput / float64(dp),
			"memory_usage": map[string]any{
				"weight": s.timing.weightsGB(), "kvcache": s.timing.kvGB(),
				"token_capacity": s.timing.KVTokens() / dp, "graph": s.timing.graphGB(),
			},
			"effective_max_running_requests_per_dp": s.timing.MaxRunning() / dp,
		}
		if n := s.stats.verified.Load(); s.timing.setup.Spec.on() && n > 0 {
			states[i]["avg_spec_accept_length"] = float64(s.stats.decoded.Load()) / float64(n) // since the start, never reset
		}
	}
	info["internal_states"] = states
	return json.Marshal(info)
}

// modelInfo is the answer of /model_info.
func (s *server) modelInfo() ([]byte, error) {
	path, tokenizer := s.args.Text("model_path"), s.args.Text("tokenizer_path")
	if f := s.opt.faults.foreign; f != "" {
		path, tokenizer = f, f
	}
	return json.Marshal(map[string]any{
		"model_path": path, "tokenizer_path": tokenizer,
		"is_generation": true, "preferred_sampling_params": nil, "weight_version": weightVersion,
		"has_image_understanding": false, "has_audio_understanding": false,
		"model_type": s.timing.model.ModelType, "architectures": []string{s.timing.model.Arch},
	})
}

// models is the answer of /v1/models.
func (s *server) models() ([]byte, error) {
	id := s.args.Text("served_model_name")
	if f := s.opt.faults.foreign; f != "" {
		id = f
	}
	return json.Marshal(map[string]any{"object": "list", "data": []map[string]any{{
		"id": id, "object": "model", "created": s.started.Unix(), "owned_by": "sglang", "root": id,
		"parent": nil, "max_model_len": s.timing.setup.Context,
	}}})
}
