package incus

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

// serve makes a client of a daemon that is only a handler, on a real socket.
func serve(t *testing.T, project string, handler http.HandlerFunc) *Client {
	t.Helper()
	socket := socketPath(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
	return New(socket, project)
}

// socketPath is short: a socket's path has at most 107 bytes.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "incus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// step is one request that is expected and its answer.
type step struct {
	want   string // "GET /1.0/instances/x?project=default"
	body   string // JSON; empty: none is expected
	status int    // 0 is 200; drop closes the connection without an answer
	answer string
	etag   string // sent with the answer
	match  string // expected If-Match
}

const drop = -1

// script serves these requests, in this order, and no others.
func script(t *testing.T, project string, steps ...step) *Client {
	t.Helper()
	var mu sync.Mutex
	next := 0
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if next < len(steps) {
			t.Errorf("only %d of %d requests came; the next is %s", next, len(steps), steps[next].want)
		}
	})
	return serve(t, project, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got := r.Method + " " + r.URL.RequestURI()
		if next == len(steps) {
			t.Errorf("one request too many: %s", got)
			panic(http.ErrAbortHandler)
		}
		s := steps[next]
		next++
		body, _ := io.ReadAll(r.Body)
		if got != s.want || !sameJSON(string(body), s.body) || r.Header.Get("If-Match") != s.match {
			t.Errorf("request %d is\n %s %s If-Match %q, want\n %s %s If-Match %q", next, got, body, r.Header.Get("If-Match"), s.want, s.body, s.match)
		}
		if s.status == drop {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("ETag", s.etag)
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		_, _ = io.WriteString(w, s.answer)
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

// The answers below have the shape of Incus 6.0.4.

func sync200(metadata string) string {
	return `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"","metadata":` + metadata + "}\n"
}

func refusal(code int, text string) string {
	return fmt.Sprintf(`{"type":"error","status":"","status_code":0,"operation":"","error_code":%d,"error":%q,"metadata":null}`+"\n", code, text)
}

const (
	opPath   = "/1.0/operations/335142ff-6d1d-4d81-8e87-65c4fc59a836"
	accepted = `{"type":"async","status":"Operation created","status_code":100,"operation":"` + opPath + `","error_code":0,"error":"",` +
		`"metadata":{"id":"335142ff-6d1d-4d81-8e87-65c4fc59a836","class":"task","status":"Running","status_code":103,"metadata":null,"may_cancel":false,"err":""}}`
	waitGet = "GET " + opPath + "/wait?project=default"
)

var (
	opDone    = sync200(`{"id":"335142ff","class":"task","status":"Success","status_code":200,"metadata":null,"err":""}`)
	opRuns    = sync200(`{"id":"335142ff","class":"task","status":"Running","status_code":103,"metadata":null,"err":""}`)
	notFound  = step{status: 404, answer: refusal(404, `Failed to fetch instance "x" in project "default": Instance not found`)}
	going     = refusal(503, "Shutting down")
	instanceX = "GET /1.0/instances/x?project=default"
)

func (s step) on(want string) step { s.want = want; return s }

func isStatus(s Status) step {
	return step{want: instanceX, answer: sync200(fmt.Sprintf(`{"name":"x","status":%q,"status_code":103,"config":{"user.sweep.run":"r1"},"devices":{},"profiles":["default"],"created_at":"2026-12-01T11:11:54.80244923Z"}`, s))}
}

// brief bounds a test against something that hangs.
func brief(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
