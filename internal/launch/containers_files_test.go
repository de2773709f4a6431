package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"sweep/internal/incus"
)

// errRan is the end of every run of a program in a container of these tests.
var errRan = errors.New("the program inside was called")

// unpeekable is an engine whose containers cannot be looked into from this
// host, and run nothing.
type unpeekable struct{ engine }

func (e unpeekable) look(ctx context.Context, name string) (container, error) {
	found, err := e.engine.look(ctx, name)
	found.pid = 0
	return found, err
}

func (unpeekable) run(context.Context, string, []string, io.Reader, io.Writer, io.Writer) (int, error) {
	return -1, errRan
}

// readingTool reads what it is told to.
type readingTool struct {
	engine
	text string
	err  error
}

func (readingTool) kind() string { return "reading" }

func (readingTool) look(context.Context, string) (container, error) {
	return container{running: true}, nil
}

func (e readingTool) readAt(_ context.Context, name, file string, offset int64, max int) ([]byte, error) {
	if name != "c1" || file != "/a" || offset != 0 && offset != 7 || max != 100 {
		return nil, fmt.Errorf("asked for %s %s %d %d", name, file, offset, max)
	}
	return []byte(e.text), e.err
}

// unpeekableReader is one whose tool reads files itself.
type unpeekableReader struct {
	unpeekable
	reader
}

// filesIn are the files of an instance in a container, without one being made.
func filesIn(t *testing.T, e engine, container string) Files {
	t.Helper()
	c := newContainers(e, ContainerOptions{StateDir: t.TempDir()})
	unlock, err := c.lockMarkers()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	m := containerMarker{Schema: 1, Name: "i", Container: container, Bin: "/nowhere/sweep", Created: time.Now()}
	if err := c.writeMarker(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return c.Files(m.instance())
}

func TestReadByTool(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		err    error
		offset int64
		want   error
	}{
		"text":                 {"text", nil, 0, nil},
		"text further on":      {"text", nil, 7, nil},
		"the end":              {"", nil, 7, nil},
		"missing":              {"", fmt.Errorf("read: %w", fs.ErrNotExist), 0, fs.ErrNotExist},
		"empty, or no file":    {"", nil, 0, errRan},
		"a link, or no daemon": {"", errors.New("cannot"), 7, errRan},
	} {
		tool := readingTool{text: c.text, err: c.err}
		got, err := filesIn(t, unpeekableReader{unpeekable{tool}, tool}, "c1").ReadAt(t.Context(), "/a", c.offset, 100)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err == nil && string(got) != c.text {
			t.Errorf("%s: got %q, %v, want %v", name, got, err, c.want)
		}
	}
}

// The real daemon reads what the program inside would.
func TestLabReadByIncus(t *testing.T) {
	socket := os.Getenv("LAB_H0_INCUS_SOCKET")
	if os.Getenv("SWEEP_LAB") == "" || socket == "" {
		t.Skip("needs a lab with Incus: SWEEP_LAB=1 and LAB_H0_INCUS_SOCKET")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const name = "launch-test-read"
	e := &incusEngine{incus.New(socket, "")}
	if err := e.client.Create(ctx, incus.CreateRequest{Name: name, Image: "tiny"}); err != nil && !errors.Is(err, incus.ErrExists) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.remove(context.WithoutCancel(ctx), name); err != nil {
			t.Error(err)
		}
	})
	text := bytes.Repeat([]byte("text\x00\xff\n"), 500_000) // more than a call inside answers at once
	if err := errors.Join(e.start(ctx, name), e.client.Push(ctx, name, "/tmp/a", bytes.NewReader(text), 0o600, 0, 0)); err != nil {
		t.Fatal(err)
	}
	files := filesIn(t, unpeekableReader{unpeekable{e}, e}, name)
	for _, c := range []struct{ offset, max, want int }{{0, 4, 4}, {7, 1000, 1000}, {0, len(text) + 1, len(text)}, {len(text) - 3, 1000, 3}, {len(text), 1000, 0}} {
		got, err := files.ReadAt(ctx, "/tmp/a", int64(c.offset), c.max)
		if err != nil || !bytes.Equal(got, text[c.offset:c.offset+c.want]) {
			t.Errorf("read %d bytes at %d: %d bytes, %v", c.max, c.offset, len(got), err)
		}
	}
	if _, err := files.ReadAt(ctx, "/tmp/none", 0, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := e.client.Push(ctx, name, "/tmp/empty", strings.NewReader(""), 0o600, 0, 0); err != nil {
		t.Error(err)
	}
	if _, err := files.ReadAt(ctx, "/tmp/empty", 0, 10); !errors.Is(err, errRan) {
		t.Errorf("empty: %v", err)
	}
}
