package incus

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fakeFiles serves this machine's own files as Incus 6.0.4 does.
type fakeFiles struct {
	t *testing.T

	mu     sync.Mutex
	asked  []string // "POST /a file 0640 7 8"
	before func(asked string, w http.ResponseWriter, r *http.Request) (answered bool)
}

// serveFiles makes a client of it. before, if any, may answer in its place.
func serveFiles(t *testing.T, before func(asked string, w http.ResponseWriter, r *http.Request) bool) (*Client, *fakeFiles) {
	f := &fakeFiles{t: t, before: before}
	return serve(t, "", f.answer), f
}

func (f *fakeFiles) answer(w http.ResponseWriter, r *http.Request) {
	query, file := r.URL.Query(), r.URL.Query().Get("path")
	asked := r.Method + " " + file
	switch {
	case r.Method == http.MethodGet && r.URL.RequestURI() == "/1.0/instances/x?project=default":
		_, _ = io.WriteString(w, isStatus(Running).answer)
		return
	case r.URL.Path != "/1.0/instances/x/files" || len(query) != 2 || query.Get("project") != "default":
		f.t.Errorf("the request is %s %s", r.Method, r.URL.RequestURI())
	case r.Method == http.MethodGet:
		asked += " " + r.Header.Get("Range")
	case r.Method == http.MethodPost:
		for _, key := range []string{"X-Incus-Type", "X-Incus-Mode", "X-Incus-Uid", "X-Incus-Gid"} {
			asked += " " + r.Header.Get(key)
		}
		if r.Header.Get("X-Incus-Write") != "overwrite" || r.Header.Get("Content-Type") != "application/octet-stream" {
			f.t.Errorf("the header of the POST is %v", r.Header)
		}
	}
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSpace(asked))
	f.mu.Unlock()
	if f.before != nil && f.before(asked, w, r) {
		return
	}
	if err := f.carryOut(file, w, r); err != nil {
		status := 500
		if os.IsNotExist(err) {
			status, err = 404, fmt.Errorf("Not Found") //nolint:staticcheck // the daemon's words
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, refusal(status, fmt.Sprintf("sftp: %q (SSH_FX_FAILURE)", err)))
	}
}

func (f *fakeFiles) carryOut(file string, w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodPost:
		return push(file, w, r)
	case http.MethodDelete:
		if err := os.Remove(file); err != nil {
			return err
		}
		_, _ = io.WriteString(w, sync200("{}"))
		return nil
	}
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	kind := "file"
	if info.IsDir() {
		kind = "directory"
	} else if info.Mode()&fs.ModeSymlink != 0 {
		kind = "symlink"
	}
	w.Header().Set("X-Incus-Type", kind)
	w.Header().Set("X-Incus-Mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	if r.Method == http.MethodHead {
		if kind == "file" {
			w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
		}
		return nil
	}
	if !info.Mode().IsRegular() {
		f.t.Errorf("what is no file is opened: %s %v", file, info.Mode())
	}
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	http.ServeContent(w, r, "", info.ModTime(), opened)
	return nil
}

// push sets the mode of a new file only, and after its content.
func push(file string, w http.ResponseWriter, r *http.Request) error {
	_, err := os.Stat(file)
	exists := err == nil
	mode, err := strconv.ParseUint(r.Header.Get("X-Incus-Mode"), 8, 32)
	if err != nil {
		return err
	}
	if r.Header.Get("X-Incus-Type") == "directory" {
		if !exists {
			err = os.Mkdir(file, fs.FileMode(mode))
		}
	} else {
		var opened *os.File
		if opened, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
			return err
		}
		defer opened.Close()
		_, err = io.Copy(opened, r.Body)
		if err == nil && !exists {
			err = opened.Chmod(fs.FileMode(mode))
		}
	}
	if err == nil {
		_, _ = io.WriteString(w, sync200("{}"))
	}
	return err
}

// took returns what was asked since the last time.
func (f *fakeFiles) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// awayFor answers the next n requests that begin with a word like a daemon
// that goes.
func awayFor(n int, word string) func(string, http.ResponseWriter, *http.Request) bool {
	var mu sync.Mutex
	return func(asked string, w http.ResponseWriter, _ *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 || !strings.HasPrefix(asked, word) {
			return false
		}
		n--
		w.WriteHeader(503)
		_, _ = io.WriteString(w, going)
		return true
	}
}
