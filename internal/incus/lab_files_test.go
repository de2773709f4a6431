package incus

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// A stopped container's files can be reached, and that does not keep it from
// being started: an open session would.
func TestLabStoppedFiles(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 2*time.Minute)
	name := labInstance(t, c, "files")
	large := bytes.Repeat([]byte("\x00\xff text\n"), 300_000)
	for range 2 {
		if err := c.Push(ctx, name, "/opt/made/file", bytes.NewReader(large), 0o751, 7, 8); err != nil {
			t.Fatal(err)
		}
		if text, err := c.ReadAt(ctx, name, "/opt/made/file", 1_000_000, 100); err != nil || !bytes.Equal(text, large[1_000_000:1_000_100]) {
			t.Errorf("read %q, %v", text, err)
		}
		if _, err := c.ReadAt(ctx, name, "/opt/none", 0, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing: %v", err)
		}
		if err := c.Push(ctx, name, "/etc/passwd/x", strings.NewReader(""), 0o600, 0, 0); err == nil {
			t.Error("a file below a file can be pushed")
		}
		_ = c.Stop(ctx, name, true, 0)
	}
	if err := c.Start(brief(t, 10*time.Second), name); err != nil {
		t.Fatal(err)
	}
	res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "stat -c '%a %u %g %s' /opt/made/*; mkdir /tmp/secret; chmod 1700 /tmp/secret; mkfifo /tmp/pipe; ln -s /opt/made/file /tmp/link; ln -s /opt/made /tmp/dir; : >/tmp/big; dd if=/dev/zero of=/tmp/big bs=1 count=1 seek=3000000000 2>/dev/null; printf end >>/tmp/big"}})
	if err != nil || string(res.Stdout) != "751 7 8 2400000\n" {
		t.Errorf("%q %q, %v", res.Stdout, res.Stderr, err)
	}
	for _, r := range []struct {
		path   string
		offset int64
		want   string
	}{
		{"/tmp/dir/file", 2, " tex"}, {"/tmp/pipe", 0, ""},
		{"/tmp/big", 3_000_000_000, "\x00end"}, {"/tmp/big", 3_000_000_004, ""}, {"/tmp/big", 1 << 40, ""},
	} {
		if text, err := c.ReadAt(ctx, name, r.path, r.offset, 4); err != nil || string(text) != r.want {
			t.Errorf("%s at %d: %q, %v", r.path, r.offset, text, err)
		}
	}
	for _, none := range []string{"/tmp/link", "/tmp"} {
		if _, err := c.ReadAt(ctx, name, none, 0, 4); !errors.Is(err, ErrNotFile) {
			t.Errorf("%s: %v", none, err)
		}
	}
	// The daemon itself, where the file became shorter after the look.
	if text, err := c.readRange(ctx, name, "/tmp/big", 4_000_000_000, 4); err != nil || len(text) != 0 {
		t.Errorf("beyond the end: %q, %v", text, err)
	}
	// What is there, a directory and a link: only the last is replaced.
	if err := c.Push(ctx, name, "/tmp/secret/file", strings.NewReader("x"), 0o600, 0, 0); err != nil {
		t.Error(err)
	}
	if err := c.Push(ctx, name, "/tmp/secret", strings.NewReader("x"), 0o600, 0, 0); !errors.Is(err, ErrNotFile) {
		t.Errorf("over a directory: %v", err)
	}
	for _, at := range []string{"/tmp/link", "/tmp/pipe"} {
		if err := c.Push(ctx, name, at, strings.NewReader("x"), 0o640, 7, 8); err != nil {
			t.Error(err)
		}
	}
	res, err = c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "stat -c '%F %a %u %g %s' /tmp/secret /tmp/link /tmp/pipe | sed s/directory.*1700/directory/; wc -c </opt/made/file"}})
	if want := "directory 0 0 4096\nregular file 640 7 8 1\nregular file 640 7 8 1\n2400000\n"; err != nil || string(res.Stdout) != want {
		t.Errorf("got %q %q, %v", res.Stdout, res.Stderr, err)
	}
}

func TestLabDiskFull(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, time.Minute)
	name := labInstance(t, c, "full")
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "mkdir /small && mount -t tmpfs -o size=4m tmpfs /small"}}); err != nil || res.Code != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := c.Push(ctx, name, "/small/file", strings.NewReader("old"), 0o600, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Push(ctx, name, "/small/file", bytes.NewReader(make([]byte, 8<<20)), 0o600, 0, 0); !errors.Is(err, ErrPoolFull) {
		t.Errorf("got %v, want ErrPoolFull", err)
	}
	if err := c.Push(ctx, name, "/small/file", strings.NewReader("new"), 0o600, 0, 0); err != nil {
		t.Errorf("pushed again, smaller: %v", err)
	}
	res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "cd /small; ls -A; cat file"}})
	if err != nil || string(res.Stdout) != "file\nnew" {
		t.Errorf("afterwards %q, %v", res.Stdout, err)
	}
}
