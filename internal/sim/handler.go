package sim

import (
	"net/http"
	"time"
)

// handler serves sglang's endpoints.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/health", "/health_generate"} {
		mux.HandleFunc("GET "+path, s.health)
	}
	info := func(build func() ([]byte, error), paths ...string) {
		for _, path := range paths {
			mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
				body, err := build()
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				_ = answerJSON(w, http.StatusOK, body)
			})
		}
	}
	info(s.models, "/v1/models")
	info(s.modelInfo, "/model_info", "/get_model_info")
	info(s.serverInfo, "/server_info", "/get_server_info")
	mux.HandleFunc("POST /generate", s.generate)
	mux.HandleFunc("GET /flush_cache", s.flush)
	mux.HandleFunc("POST /flush_cache", s.flush)
	if s.args.Bool("enable_metrics") {
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			s.stats.write(w, s.engine.state(), s.timing, s.args.Text("served_model_name"))
		})
	}
	return s.logged(mux)
}

// health is 503 until the server's own warm-up is through and while it shuts
// down. In between it takes a second, as sglang's does: it asks for one token
// and looks for the answer once a second.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	if s.state.Load() == serving {
		wait := time.Duration(float64(time.Second) / s.opt.timeScale)
		if sleepUntil(r.Context(), time.Now().Add(wait)) == nil && s.state.Load() == serving {
			w.WriteHeader(http.StatusOK)
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// flush empties the prefix cache, unless requests run or wait.
func (s *server) flush(w http.ResponseWriter, _ *http.Request) {
	if s.engine.busy.Load() > 0 {
		s.log.line("Cache not flushed because there are pending requests. #queue-req: %d, #running-req: %d",
			s.engine.state().queued, s.engine.busy.Load())
		http.Error(w, "Flush cache failed. Please check backend logs for more details.", http.StatusBadRequest)
		return
	}
	s.engine.cache.flush()
	s.log.ranked(s.ranks[0], "Cache flushed successfully!")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte("Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n"))
}

// logged writes uvicorn's access line when a response starts.
func (s *server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&accessWriter{ResponseWriter: w, log: func(status int) {
			s.log.access(r.RemoteAddr, r.Method+" "+r.URL.EscapedPath(), status, http.StatusText(status))
		}}, r)
	})
}

// accessWriter notices the status of a response.
type accessWriter struct {
	http.ResponseWriter
	log  func(status int)
	done bool
}

func (a *accessWriter) WriteHeader(status int) {
	if !a.done {
		a.done = true
		a.log(status)
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *accessWriter) Write(b []byte) (int, error) {
	if !a.done {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush.
func (a *accessWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
