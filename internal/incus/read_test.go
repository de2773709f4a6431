package incus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestReadAt(t *testing.T) {
	c, f := serveFiles(t, awayFor(2, "HEAD"))
	at := filepath.Join(t.TempDir(), "a +%&ü")
	text := bytes.Repeat([]byte("01234567\x00\xff"), 100_000)
	if err := errors.Join(os.WriteFile(at, text, 0o600), os.Symlink(at, at+".link"), syscall.Mkfifo(at+".pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		path   string
		offset int64
		max    int
		want   []byte
		asked  string // after the HEAD
	}{
		{at, 0, 1 << 40, text, "bytes=0-999999"}, {at, 3, 4, []byte("3456"), "bytes=3-6"}, {at, 999_997, 100, []byte("7\x00\xff"), "bytes=999997-999999"},
		{at, 1_000_000, 100, nil, ""}, {at, 1 << 50, 100, nil, ""}, {at, 5, 0, nil, ""}, {at + ".pipe", 0, 1, nil, ""},
	} {
		got, err := c.ReadAt(t.Context(), "x", r.path, r.offset, r.max)
		if err != nil || !bytes.Equal(got, r.want) {
			t.Errorf("%s at %d, %d bytes: got %d bytes, %v", r.path, r.offset, r.max, len(got), err)
		}
		want := []string{"HEAD " + r.path}
		if r.asked != "" {
			want = append(want, "GET "+r.path+" "+r.asked)
		}
		asked := slices.Compact(f.took()) // the first was tried three times
		if !slices.Equal(asked, want) {
			t.Errorf("%s at %d, %d bytes: asked %q, want %q", r.path, r.offset, r.max, asked, want)
		}
	}
	if _, err := c.ReadAt(t.Context(), "x", at+".missing", 0, 1); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	for _, none := range []string{filepath.Dir(at), at + ".link"} {
		if _, err := c.ReadAt(t.Context(), "x", none, 0, 1); !errors.Is(err, ErrNotFile) {
			t.Errorf("%s: got %v, want ErrNotFile", none, err)
		}
	}
	if _, err := c.ReadAt(t.Context(), "x", at+"/below", 0, 1); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("below a file: got %v, want the daemon's words", err)
	}
	f.took()
	for _, bad := range []struct {
		path   string
		offset int64
		max    int
	}{{"relative", 0, 1}, {at, -1, 1}, {at, 0, -1}} {
		if _, err := c.ReadAt(t.Context(), "x", bad.path, bad.offset, bad.max); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if asked := f.took(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
}

// What comes after the look is not always what was looked at.
func TestReadAtOddAnswers(t *testing.T) {
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(status int, kind, contentRange, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("X-Incus-Type", kind)
			w.Header().Set("Content-Range", contentRange)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, a := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string
		err    error
	}{
		"a part":                {say(206, "file", "bytes 2-5/10", "2345"), "2345", nil},
		"more than asked":       {say(206, "file", "bytes 2-9/10", "23456789"), "2345", nil},
		"another part":          {say(206, "file", "bytes 0-3/10", "0123"), "", ErrAnswer},
		"no range":              {say(206, "file", "", "2345"), "", ErrAnswer},
		"the whole":             {say(200, "file", "", "0123456789"), "2345", nil},
		"it became shorter":     {say(200, "file", "", "0"), "", nil},
		"it became empty":       {say(416, "file", "bytes */0", "invalid range: failed to overlap"), "", nil},
		"it became a directory": {say(200, "directory", "", sync200(`["a"]`)), "", ErrNotFile},
		"it went":               {say(404, "", "", refusal(404, "Not Found")), "", fs.ErrNotExist},
		"no file":               {say(202, "", "", accepted), "", ErrAnswer},
		"HTML":                  {say(500, "", "", "<html>"), "", ErrAnswer},
	} {
		c, _ := serveFiles(t, func(asked string, w http.ResponseWriter, _ *http.Request) bool {
			if !strings.HasPrefix(asked, "GET") {
				return false
			}
			a.answer(w)
			return true
		})
		got, err := c.ReadAt(t.Context(), "x", at, 2, 4)
		if string(got) != a.want || !errors.Is(err, a.err) || (err == nil) != (a.err == nil) {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, a.want, a.err)
		}
	}
}

// A file that breaks off is read again.
func TestReadAtBroken(t *testing.T) {
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	var tries atomic.Int32
	c, _ := serveFiles(t, func(asked string, w http.ResponseWriter, _ *http.Request) bool {
		if !strings.HasPrefix(asked, "GET") {
			return false
		}
		if tries.Add(1) > 2 {
			return false
		}
		w.Header().Set("X-Incus-Type", "file")
		w.Header().Set("Content-Range", "bytes 0-9/10")
		w.Header().Set("Content-Length", "10")
		w.WriteHeader(206)
		_, _ = io.WriteString(w, "0123")
		panic(http.ErrAbortHandler)
	})
	if got, err := c.ReadAt(t.Context(), "x", at, 0, 10); err != nil || string(got) != "0123456789" || tries.Load() != 3 {
		t.Errorf("got %q, %v after %d tries", got, err, tries.Load())
	}
	c.patience = 0
	tries.Store(0)
	if got, err := c.ReadAt(t.Context(), "x", at, 0, 10); !lost(err) {
		t.Errorf("got %q, %v, want a lost answer", got, err)
	}
}

func TestReadAtRefused(t *testing.T) {
	const head = "HEAD /1.0/instances/x/files?path=%2Fa&project=default"
	const get = "GET /1.0/instances/x/files?path=%2Fa&project=default"
	for name, r := range map[string]struct {
		steps []step
		want  error
		words string
	}{
		"no instance":    {[]step{{want: head, status: 404}, notFound.on(instanceX)}, ErrNotFound, "Instance not found"},
		"no project":     {[]step{{want: head, status: 404}, {want: instanceX, status: 404, answer: refusal(404, "Project not found")}, {want: "GET /1.0/projects/default?project=default", status: 404, answer: refusal(404, "Project not found")}}, ErrProject, ""},
		"not Incus":      {[]step{{want: head}}, ErrAnswer, ""},
		"with a reason":  {[]step{{want: head, status: 500}, {want: get, status: 500, answer: refusal(500, "Instance is busy running a \"x\" operation")}}, ErrBusy, ""},
		"without reason": {[]step{{want: head, status: 500}, {want: get, answer: "content"}}, nil, "it does not say why"},
	} {
		_, err := script(t, "", r.steps...).ReadAt(t.Context(), "x", "/a", 0, 1)
		if err == nil || r.want != nil && !errors.Is(err, r.want) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(fmt.Sprint(err), r.words) {
			t.Errorf("%s: got %v, want %v", name, err, r.want)
		}
	}
}
