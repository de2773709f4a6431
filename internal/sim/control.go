package sim

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"time"
)

// healthWait is how long sglang waits for any output before it calls itself
// unhealthy (SGLANG_HEALTH_CHECK_TIMEOUT).
const healthWait = 20 * time.Second

// health is 503 until the server's own warm-up is through and while it shuts
// down. In between it takes a second or more, as sglang's does: it asks for one
// token and looks once a second whether the scheduler gave any output.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	f := &s.opt.faults
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) / s.opt.timeScale) }
	if f.slowHealth > 0 && sleepUntil(r.Context(), time.Now().Add(scaled(f.slowHealth))) != nil {
		return
	}
	switch state := s.state.Load(); {
	case f.early != 0 && state == starting, f.healthy:
		w.WriteHeader(http.StatusOK)
	case state != serving:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/health" && os.Getenv("SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION") == "0":
		w.WriteHeader(http.StatusOK)
	default:
		limit := healthWait
		if v, err := strconv.Atoi(os.Getenv("SGLANG_HEALTH_CHECK_TIMEOUT")); err == nil && v > 0 {
			limit = time.Duration(v) * time.Second
		}
		asked := time.Now()
		for now := asked; now.Sub(asked) < scaled(limit); now = time.Now() {
			if sleepUntil(r.Context(), now.Add(scaled(time.Second))) != nil {
				return
			}
			alive := s.engine.busy.Load() == 0 || s.engine.beat.Load() > asked.UnixNano()
			if alive && !s.engine.stalled.Load() && s.state.Load() == serving {
				w.WriteHeader(http.StatusOK)
				return
			}
		}
		s.log.line("Health check failed. Server couldn't get a response from detokenizer for last %d seconds. tic start time: %s. last_heartbeat time: %s",
			int(limit.Seconds()), asked.Format(time.TimeOnly), time.Unix(0, s.engine.beat.Load()).Format(time.TimeOnly))
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// flush empties the prefix cache, unless requests run or wait. Since 0.5.10 it
// waits for that as long as ?timeout= says, in seconds.
func (s *server) flush(w http.ResponseWriter, r *http.Request) {
	wait, err := strconv.ParseFloat(r.URL.Query().Get("timeout"), 64)
	if err != nil || !s.timing.dialect.from(10) {
		wait = 0
	}
	until := time.Now().Add(time.Duration(wait * float64(time.Second)))
	for !s.engine.flush() {
		if sleepUntil(r.Context(), time.Now().Add(20*time.Millisecond)) != nil {
			return
		}
		if time.Now().After(until) {
			s.log.line("Cache not flushed because there are pending requests. #queue-req: %d, #running-req: %d",
				s.engine.state().queued, s.engine.busy.Load())
			http.Error(w, "Flush cache failed.\n", http.StatusBadRequest)
			return
		}
	}
	s.log.ranked(s.ranks[0], "Cache flushed successfully!")
	s.text("Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n")(w, r)
}

// text answers the same text every time.
func (s *server) text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(body))
	}
}

// abortRequest serves POST /abort_request.
func (s *server) abortRequest(w http.ResponseWriter, r *http.Request) {
	var req struct {
		RID string `json:"rid"`
		All bool   `json:"abort_all"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		_ = answerJSON(w, http.StatusBadRequest, nativeError(err.Error()))
		return
	}
	if req.All {
		s.engine.abortIDs("")
	} else if req.RID != "" {
		s.engine.abortIDs(req.RID)
	}
	w.WriteHeader(http.StatusOK)
}

// load is the answer of /get_load: each replica's share.
func (s *server) load() ([]byte, error) {
	st, dp := s.engine.state(), s.timing.setup.DP
	list := make([]map[string]any, dp)
	for i := range list {
		list[i] = map[string]any{
			"rid": nil, "dp_rank": i, "num_reqs": share(int(s.engine.busy.Load()), dp, i),
			"num_waiting_reqs": share(st.queued, dp, i), "num_tokens": share(st.held, dp, i),
		}
	}
	return json.Marshal(list)
}

// loads is the answer of /v1/loads.
func (s *server) loads() ([]byte, error) {
	st, dp := s.engine.state(), s.timing.setup.DP
	list := make([]map[string]any, dp)
	for i := range list {
		list[i] = map[string]any{
			"dp_rank": i, "num_running_reqs": share(st.running, dp, i), "num_waiting_reqs": share(st.queued, dp, i),
			"num_total_reqs": share(int(s.engine.busy.Load()), dp, i), "num_used_tokens": share(st.held, dp, i),
			"max_total_num_tokens": s.timing.KVTokens() / dp, "token_usage": st.usage, "gen_throughput": st.throughput / float64(dp),
			"max_running_requests": s.timing.MaxRunning() / dp,
		}
	}
	return json.Marshal(map[string]any{
		"timestamp": time.Now().UTC().Format(time.RFC3339), "version": s.opt.version, "dp_rank_count": dp, "loads": list,
	})
}
