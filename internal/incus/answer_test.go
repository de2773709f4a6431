package incus

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// hangAfter takes a command, calls cancel when its end is waited for, and then
// says nothing until the client goes.
func hangAfter(t *testing.T, cancel func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			_, _ = io.WriteString(w, accepted)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then is the client's going noticed
		cancel()
		<-r.Context().Done()
	}
}

func TestOddAnswers(t *testing.T) {
	whole := sync200(`{"name":"x"}`)
	for name, handler := range map[string]http.HandlerFunc{
		"HTML": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html><body>It works!</body></html>")
		},
		"HTML 404": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, "<h1>\x1b[31mnot found</h1>")
		},
		"other JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"message":"page not found"}`) },
		"a JSON list": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[1]`) },
		"truncated":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, whole[:len(whole)-5]) },
		"empty":       func(http.ResponseWriter, *http.Request) {},
		"wrong type":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sync200(`[1,2]`)) },
		"no content":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sync200(`null`)) },
		"10 MB": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, sync200(`{"name":"`+strings.Repeat("x", 10<<20)+`"}`))
		},
		"success with status 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = io.WriteString(w, whole) },
	} {
		_, err := serve(t, "", handler).Instance(t.Context(), "x")
		if !errors.Is(err, ErrAnswer) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 1000 {
			t.Errorf("%s: got %v, want ErrAnswer in a short line", name, err)
		}
	}
}

// A connection that is closed in the middle of an answer is a lost one: reading
// is tried again.
func TestClosedInTheMiddle(t *testing.T) {
	calls := 0
	c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		whole := sync200(`{"name":"x"}`)
		if calls++; calls < 3 {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, whole)
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, whole)
	})
	if in, err := c.Instance(t.Context(), "x"); err != nil || in.Name != "x" || calls != 3 {
		t.Errorf("got %+v, %v after %d calls", in, err, calls)
	}
	c.patience = 0
	calls = -100
	if _, err := c.Instance(t.Context(), "x"); !lost(err) || errors.Is(err, ErrAnswer) {
		t.Errorf("got %v, want a lost answer", err)
	}
}

func TestHangingDaemon(t *testing.T) {
	c := serve(t, "", hangAfter(t, func() {}))
	if _, err := c.Instance(brief(t, 50*time.Millisecond), "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestErrorText(t *testing.T) {
	err := fail("start the instance x", refused(500, "bad \x1b[31m\r\nthing\u202e "+strings.Repeat("long ", 1000)))
	if text := err.Error(); strings.ContainsAny(text, "\x1b\r\n\u202e") || len(text) > 500 || !strings.HasPrefix(text, "start the instance x: bad [31m thing long ") || !strings.HasSuffix(text, "… (incus error 500)") {
		t.Errorf("got %q", err)
	}
}

// Whatever comes is an answer or an *Error, whose text is one short line.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{accepted, opDone, going, sync200(`[]`), refusal(404, "\x1b[2J\n"), "<html>", `{"type":"sync"}`, `{"type":"error"}`, `{"type":"error","error_code":-5,"error":"\ud800"}`, "null", ""} {
		f.Add(s, 200)
	}
	f.Add(sync200(`{}`), 500)
	f.Fuzz(func(t *testing.T, text string, status int) {
		a, err := decode(strings.NewReader(text), status)
		if err == nil {
			var op operation
			if a.Type != "sync" && a.Type != "async" || status >= 400 {
				t.Fatalf("%q with status %d is an answer", text, status)
			}
			err = a.into(&op)
		}
		if err == nil {
			return
		}
		e, ok := errors.AsType[*Error](fail("x", err))
		if !ok || strings.ContainsAny(e.Error(), "\x1b\r\n\x00") || len(e.Error()) > maxText+200 {
			t.Fatalf("%q gives %q", text, err)
		}
	})
}
