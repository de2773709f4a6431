package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newTestInstance(t *testing.T) (*Process, string, Instance) {
	t.Helper()
	state := t.TempDir()
	p := NewProcess(state, t.TempDir())
	in, err := p.Create(t.Context(), InstanceSpec{Name: "one", Labels: map[string]string{"run": "r1"}})
	if err != nil {
		t.Fatal(err)
	}
	return p, state, in
}

func TestProcessIgnoresWhatHasNoMarker(t *testing.T) {
	p, state, _ := newTestInstance(t)
	instances := filepath.Join(state, "instances")
	for name, marker := range map[string]string{"empty": "", "torn": `{"schema":1,"na`, "other": `{"schema":1,"name":"one"}`,
		"newer": `{"schema":2,"name":"newer"}`, ".new-123": `{"schema":1,"name":".new-123"}`} {
		if err := os.MkdirAll(filepath.Join(instances, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(instances, name, markerFile), []byte(marker), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(instances, "one"), filepath.Join(instances, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(instances, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "one" {
		t.Errorf("listed %+v, %v", list, err)
	}
	for _, name := range []string{"empty", "torn", "other", "newer", "link", "file"} {
		if _, err := p.Create(t.Context(), InstanceSpec{Name: name}); !errors.Is(err, ErrForeign) {
			t.Errorf("create %s: %v", name, err)
		}
		if err := p.Destroy(t.Context(), Instance{Name: name}); !errors.Is(err, ErrForeign) {
			t.Errorf("destroy %s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(instances, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestProcessGoesOnWithAnEmptiedCache(t *testing.T) {
	p, _, in := newTestInstance(t)
	if err := os.Remove(in.Bin); err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := os.Stat(list[0].Bin); err != nil {
		t.Error(err)
	}
}

// Destroy may be killed between its rename and its end.
func TestProcessFinishesAHalfDoneDestroy(t *testing.T) {
	p, _, in := newTestInstance(t)
	gone := filepath.Join(filepath.Dir(in.Dir), ".gone-one")
	if err := os.Rename(in.Dir, gone); err != nil {
		t.Fatal(err)
	}
	if err := p.Destroy(t.Context(), in); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// A background process that keeps the pipes must not keep Exec.
func TestE03ExecReturnsWithABackgroundChild(t *testing.T) {
	p, _, in := newTestInstance(t)
	began := time.Now()
	res, err := p.Exec(t.Context(), in, Cmd{Argv: []string{"sh", "-c", "sleep 5 & echo started"}})
	if took := time.Since(began); err != nil || res.Code != 0 || string(res.Stdout) != "started\n" || took > 4*time.Second {
		t.Errorf("after %v: %+v, %v", took, res, err)
	}
}

// Output that nobody reads must not block a command, and every exec has an end.
func TestE14ExecDrainsBothStreamsAndEndsWithItsContext(t *testing.T) {
	p, _, in := newTestInstance(t)
	script := fmt.Sprintf("head -c %d /dev/zero >&2; exit 9", MaxExecOutput+1)
	if res, err := p.Exec(t.Context(), in, Cmd{Argv: []string{"sh", "-c", script}}); err != nil || res.Code != 9 || len(res.Stderr) != MaxExecOutput {
		t.Errorf("code %d, %d bytes, %v", res.Code, len(res.Stderr), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := p.Exec(ctx, in, Cmd{Argv: []string{"sh", "-c", "sleep 60 & sleep 60"}})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}

func TestOneLine(t *testing.T) {
	got := oneLine([]byte("a\x1b[31m\r\n b\x00\xff" + strings.Repeat("x", 5000)))
	if !strings.HasPrefix(got, "a [31m b ?xxx") || len(got) > 2000 || strings.ContainsAny(got, "\x1b\r\n\x00") {
		t.Errorf("%.60q", got)
	}
}
