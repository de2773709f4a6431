package incus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestPush(t *testing.T) {
	c, f := serveFiles(t, awayFor(2, "HEAD"))
	dir := t.TempDir()
	at := filepath.Join(dir, "made", "on the way", "file")
	large := bytes.Repeat([]byte("new\x00\xff"), 200_000)
	makes := "POST " + at + " file 0751 7 8"
	for _, p := range []struct {
		text []byte
		want []string
	}{
		{[]byte("old"), []string{"HEAD " + at, // three times
			"POST " + filepath.Dir(at) + " directory 0755 0 0", "POST " + filepath.Dir(filepath.Dir(at)) + " directory 0755 0 0", "POST " + filepath.Dir(at) + " directory 0755 0 0",
			makes, makes}},
		{large, []string{"HEAD " + at, "DELETE " + at, makes, makes}},
		{nil, []string{"HEAD " + at, "DELETE " + at, makes, makes}},
	} {
		if err := c.Push(t.Context(), "x", at, bytes.NewReader(p.text), 0o751, 7, 8); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(at)
		info, _ := os.Stat(at)
		if err != nil || !bytes.Equal(got, p.text) || info.Mode() != 0o751 {
			t.Errorf("%d bytes of %d, %v, %v", len(got), len(p.text), info.Mode(), err)
		}
		asked := f.took()
		for len(asked) > 1 && asked[0] == asked[1] && asked[0][0] == 'H' {
			asked = asked[1:]
		}
		if !slices.Equal(asked, p.want) {
			t.Errorf("asked %q, want %q", asked, p.want)
		}
	}
	// A link goes, not what it leads to.
	link := filepath.Join(dir, "link")
	if err := os.Symlink(at, link); err != nil {
		t.Fatal(err)
	}
	if err := c.Push(t.Context(), "x", link, strings.NewReader("text"), 0o600, 0, 0); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode() != 0o600 {
		t.Errorf("the link is %v, %v", info, err)
	}
	for _, bad := range []string{"relative", "/dir/", dir, at + "/below/a/file", link + "/x"} {
		if err := c.Push(t.Context(), "x", bad, strings.NewReader(""), 0o600, 0, 0); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("push to %s: %v", bad, err)
		}
	}
	if err := c.Push(t.Context(), "x", at, strings.NewReader(""), 0o600, -1, 0); err == nil {
		t.Error("an owner below 0 is taken")
	}
	if got, err := os.ReadFile(at); err != nil || len(got) != 0 {
		t.Errorf("afterwards %q, %v", got, err)
	}
}

// Nobody whom the mode keeps out can read the content while it comes.
func TestPushMode(t *testing.T) {
	c, _ := serveFiles(t, nil)
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, []byte("for all"), 0o644); err != nil {
		t.Fatal(err)
	}
	half := io.MultiReader(strings.NewReader("secret"), whenRead(func() error {
		if info, err := os.Stat(at); err != nil || info.Mode() != 0o600 {
			t.Errorf("half-way: %v, %v", info.Mode(), err)
		}
		return io.EOF
	}))
	if err := c.Push(t.Context(), "x", at, half, 0o600, 0, 0); err != nil {
		t.Error(err)
	}
}

func TestPushInput(t *testing.T) {
	c, _ := serveFiles(t, nil)
	at := filepath.Join(t.TempDir(), "file")
	for _, failure := range []error{io.ErrUnexpectedEOF, io.ErrClosedPipe, &lostError{err: io.EOF}, &Error{Kind: ErrPoolFull}} {
		err := c.Push(t.Context(), "x", at, io.MultiReader(strings.NewReader("half"), whenRead(func() error { return failure })), 0o600, 0, 0)
		if !errors.Is(err, failure) || !errors.Is(err, errInput) || errors.Is(err, ErrUnknown) || !strings.HasPrefix(err.Error(), "push ") {
			t.Errorf("a failing input: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := c.Push(ctx, "x", at, io.MultiReader(strings.NewReader("half"), whenRead(func() error { cancel(); return errors.New("never mind") })), 0o600, 0, 0)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrUnknown) {
		t.Errorf("a cancelled push: %v", err)
	}
	// An input that never comes does not hold a push that has ended.
	never, stop := io.Pipe()
	defer stop.Close()
	full, _ := serveFiles(t, func(asked string, w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(asked, "POST") || r.ContentLength == 0 {
			return false
		}
		w.WriteHeader(500)
		_, _ = io.WriteString(w, refusal(500, `sftp: "write /a: no space left on device" (SSH_FX_FAILURE)`))
		return true
	})
	if err := full.Push(t.Context(), "x", at, io.MultiReader(strings.NewReader("half"), never), 0o600, 0, 0); !errors.Is(err, ErrPoolFull) {
		t.Errorf("got %v, want ErrPoolFull", err)
	}
}

// Nor is it in the way of hearing that the daemon went.
func TestPushInputBlocks(t *testing.T) {
	never, stop := io.Pipe()
	defer stop.Close()
	c, _ := serveFiles(t, func(asked string, w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(asked, "POST") || r.ContentLength == 0 {
			return false
		}
		_, _ = r.Body.Read(make([]byte, 1))
		conn, _, err := w.(http.Hijacker).Hijack() // a handler's end would wait for the body's
		if err != nil {
			t.Error(err)
			return false
		}
		conn.Close()
		return true
	})
	err := c.Push(brief(t, time.Minute), "x", filepath.Join(t.TempDir(), "file"), io.MultiReader(strings.NewReader("half"), never), 0o600, 0, 0)
	if !errors.Is(err, ErrUnknown) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

// The daemon goes at each step, for a moment or for good.
func TestPushLost(t *testing.T) {
	const text = "the new content"
	old := fs.FileMode(0o644)
	for _, step := range []string{"HEAD", "DELETE", "POST the empty file", "POST the content"} {
		for _, way := range []string{"refuses", "breaks"} {
			at := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(at, []byte("old"), old); err != nil {
				t.Fatal(err)
			}
			var goes atomic.Int32
			c, f := serveFiles(t, func(asked string, w http.ResponseWriter, r *http.Request) bool {
				word, rest, _ := strings.Cut(step, " ")
				if !strings.HasPrefix(asked, word) || rest != "" && strings.Contains(rest, "content") != (r.ContentLength != 0) || goes.Load() == 0 {
					return false
				}
				goes.Add(-1)
				if way == "breaks" {
					if strings.Contains(step, "content") {
						_, _ = r.Body.Read(make([]byte, 1))
					}
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(503)
				_, _ = io.WriteString(w, going)
				return true
			})
			goes.Store(1)
			c.patience = 0 // for good
			err := c.Push(t.Context(), "x", at, strings.NewReader(text), 0o600, 7, 8)
			if step == "HEAD" { // nothing was done
				if err == nil || errors.Is(err, ErrUnknown) {
					t.Errorf("%s %s: %v", step, way, err)
				}
			} else if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrShuttingDown) {
				t.Errorf("%s %s: got %v, want ErrUnknown", step, way, err)
			}
			c.patience = brieflyAway
			if !strings.Contains(step, "content") {
				goes.Store(1)
			}
			if err := c.Push(t.Context(), "x", at, strings.NewReader(text), 0o600, 7, 8); err != nil {
				t.Errorf("%s %s, pushed again: %v", step, way, err)
			}
			if got, err := os.ReadFile(at); err != nil || string(got) != text {
				t.Errorf("%s %s: %q, %v after %q", step, way, got, err, f.took())
			}
		}
	}
}

// brieflyAway is more patience than a test needs.
const brieflyAway = 20 * time.Second

func TestPushRefused(t *testing.T) {
	const query = "/1.0/instances/x/files?path="
	c := script(t, "", // asked from the deepest directory up
		step{want: "HEAD " + query + "%2Fd%2Fa&project=default", status: 404},
		notFound.on("POST "+query+"%2Fd&project=default"),
		notFound.on("POST "+query+"%2F&project=default"),
	)
	err := c.Push(t.Context(), "x", "/d/a", strings.NewReader("text"), 0o600, 0, 0)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "Instance not found") {
		t.Errorf("no instance: %v", err)
	}
}
