package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// fakeEnv carries the script of a fake server to its process.
const fakeEnv = "SWEEP_TEST_FAKE_SERVER"

// TestFakeServer is no test: it is the body of the processes that the tests of
// a server's life start, real ones with real sockets. Its script has a step a
// line:
//
//	log TEXT      write a line of log
//	raw TEXT      write without a line break
//	sleep 300ms
//	wait NAME     until the test lets it go on
//	seen PATH N   until so many requests came for a path
//	listen        answer on --port
//	health 200    what /health says from now on
//	generate ok   what /generate does: ok, 503, 500, abort, hang, drop
//	info JSON     fields of /server_info; or "hang", "404"
//	deaf          ignore TERM
//	exit 2
//
// After the last step it lives on.
func TestFakeServer(t *testing.T) {
	script, ok := os.LookupEnv(fakeEnv)
	if !ok {
		return
	}
	f := &fakeServer{seen: map[string]*atomic.Int64{"/health": {}, "/generate": {}}, port: flagValue(os.Args, "--port"), model: flagValue(os.Args, "--model-path")}
	f.health.Store(503)
	f.generate.Store("ok")
	f.info.Store("{}")
	for step := range strings.Lines(script) {
		verb, arg, _ := strings.Cut(strings.TrimSuffix(step, "\n"), " ")
		f.step(verb, arg)
	}
	for {
		time.Sleep(time.Hour)
	}
}

type fakeServer struct {
	port, model string
	seen        map[string]*atomic.Int64 // requests by path
	health      atomic.Int64
	generate    atomic.Value
	info        atomic.Value
}

func (f *fakeServer) step(verb, arg string) {
	switch verb {
	case "log":
		fmt.Fprintln(os.Stderr, arg)
	case "raw":
		fmt.Fprint(os.Stderr, arg)
	case "sleep":
		d, err := time.ParseDuration(arg)
		must(err)
		time.Sleep(d)
	case "wait":
		poll(func() bool { _, err := os.Stat(arg); return err == nil }) // in the held directory
	case "seen":
		path, n, _ := strings.Cut(arg, " ")
		want, err := strconv.ParseInt(n, 10, 64)
		must(err)
		poll(func() bool { return f.seen[path].Load() >= want })
	case "listen":
		l, err := net.Listen("tcp", "127.0.0.1:"+f.port)
		if err != nil {
			fmt.Fprintf(os.Stderr, "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', %s): address already in use\n", f.port)
			os.Exit(1)
		}
		go func() { must(http.Serve(l, f)) }()
	case "health":
		n, err := strconv.ParseInt(arg, 10, 64)
		must(err)
		f.health.Store(n)
	case "generate":
		f.generate.Store(arg)
	case "info":
		f.info.Store(arg)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "exit":
		n, err := strconv.Atoi(arg)
		must(err)
		os.Exit(n)
	default:
		panic("no such step: " + verb)
	}
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if n := f.seen[r.URL.Path]; n != nil {
		n.Add(1)
	}
	switch r.URL.Path {
	case "/health":
		w.WriteHeader(int(f.health.Load()))
	case "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	case "/generate":
		f.answer(w, r)
	case "/server_info":
		info := f.info.Load().(string)
		switch info {
		case "hang":
			<-r.Context().Done()
		case "404":
			w.WriteHeader(404)
		default:
			port, _ := strconv.Atoi(f.port)
			all := map[string]any{"port": port, "model_path": f.model, "api_key": "sk-secretsecretsecret", "version": "0.5.17"}
			must(json.Unmarshal([]byte(info), &all))
			must(json.NewEncoder(w).Encode(all))
		}
	default:
		w.WriteHeader(404)
	}
}

func (f *fakeServer) answer(w http.ResponseWriter, r *http.Request) {
	for f.generate.Load() == "hang" && r.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	switch f.generate.Load() {
	case "ok":
		_, _ = io.WriteString(w, `{"text":" a","meta_info":{"finish_reason":{"type":"length"},"prompt_tokens":8,"completion_tokens":4}}`)
	case "503":
		w.WriteHeader(503)
	case "500":
		w.WriteHeader(500)
		_, _ = io.WriteString(w, `{"error":{"message":"no kernel\u001b[31m for you"}}`)
	case "abort":
		_, _ = io.WriteString(w, `{"text":"","meta_info":{"finish_reason":{"type":"abort","message":"gone"},"completion_tokens":0}}`)
	case "drop":
		panic(http.ErrAbortHandler)
	}
}

func poll(done func() bool) {
	for !done() {
		time.Sleep(5 * time.Millisecond)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// logged are the lines of a start up to a phase.
const (
	logInit    = "log [2026-08-07 03:00:10 TP0] Init torch distributed begin.\nlog [2026-08-07 03:00:12 TP0] Init torch distributed ends. elapsed=2.10 s, mem usage=0.45 GB\n"
	logWeights = logInit + "log [2026-08-07 03:00:15 TP0] Load weight begin. avail mem=94.05 GB\n"
	logLoaded  = logWeights + "log [2026-08-07 03:00:51 TP0] Load weight end. elapsed=36.12 s, type=X, avail mem=37.00 GB, mem usage=57.06 GB.\n" +
		"log [2026-08-07 03:00:52 TP0] max_total_num_tokens=1000, max_running_requests=8, available_gpu_mem=6.10 GB\n"
	logUp    = logLoaded + "log [2026-08-07 03:00:53] INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)\n"
	logFired = "log [2026-08-07 03:00:54] The server is fired up and ready to roll!\n"
	serving  = logUp + "listen\nhealth 200\n" + logFired
)

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
