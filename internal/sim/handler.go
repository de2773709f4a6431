package sim

import (
	"net/http"
	"strings"
)

// handler serves sglang's endpoints.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	d := s.timing.dialect
	both := func(path string, h http.HandlerFunc) {
		mux.HandleFunc("GET "+path, h)
		mux.HandleFunc("POST "+path, h)
	}
	info := func(build func() ([]byte, error), paths ...string) {
		for _, path := range paths {
			mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
				if path == "/get_server_info" || path == "/get_model_info" {
					s.log.line("Endpoint '%s' is deprecated and will be removed in a future version. Please use '/%s' instead.", path, strings.TrimPrefix(path, "/get_"))
				}
				body, err := build()
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				_ = answerJSON(w, http.StatusOK, body)
			})
		}
	}
	for _, path := range []string{"/health", "/health_generate"} {
		mux.HandleFunc("GET "+path, s.health)
	}
	info(s.models, "/v1/models")
	info(s.modelInfo, "/model_info", "/get_model_info")
	info(s.serverInfo, "/server_info", "/get_server_info") // both since 0.5.6
	info(s.load, "/get_load")
	if d.from(8) {
		info(s.loads, "/v1/loads")
	}
	mux.HandleFunc("POST /generate", s.gate(s.native))
	mux.HandleFunc("PUT /generate", s.gate(s.native))
	mux.HandleFunc("POST /v1/completions", s.gate(s.openai(false)))
	mux.HandleFunc("POST /v1/chat/completions", s.gate(s.openai(true)))
	mux.HandleFunc("POST /abort_request", s.abortRequest)
	both("/flush_cache", s.flush)
	both("/start_profile", s.text("Start profiling.\n"))
	both("/stop_profile", s.text("Stop profiling. This will take some time.\n"))
	both("/freeze_gc", s.text("Garbage collection frozen.\n"))
	if s.args.Bool("enable_metrics") {
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			s.stats.write(w, s.engine.state(), s.timing, s.args.Text("served_model_name"))
		})
	}
	return s.logged(s.keyed(s.fastAPI(mux)))
}

// gate holds back what generates while the server only pretends to be ready.
func (s *server) gate(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.opt.faults.early != 0 && s.state.Load() == starting {
			if s.opt.faults.early == http.StatusServiceUnavailable {
				_ = answerJSON(w, http.StatusServiceUnavailable, openaiError(http.StatusServiceUnavailable, "The server is starting."))
				return
			}
			select {
			case <-s.ready:
			case <-r.Context().Done():
				return
			}
		}
		next(w, r)
	}
}

// keyed asks for the key of --api-key, but for health and metrics.
func (s *server) keyed(next http.Handler) http.Handler {
	key := s.args.Text("api_key")
	if key == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := strings.HasPrefix(r.URL.Path, "/health") || strings.HasPrefix(r.URL.Path, "/metrics")
		if !open && r.Header.Get("Authorization") != "Bearer "+key {
			_ = answerJSON(w, http.StatusUnauthorized, []byte(`{"error":"Unauthorized"}`))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fastAPI answers what is not there as FastAPI does.
func (s *server) fastAPI(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "uvicorn")
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "" {
				w.Header().Set("Allow", method)
				_ = answerJSON(w, http.StatusMethodNotAllowed, []byte(`{"detail":"Method Not Allowed"}`))
				return
			}
		}
		_ = answerJSON(w, http.StatusNotFound, []byte(`{"detail":"Not Found"}`))
	})
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
