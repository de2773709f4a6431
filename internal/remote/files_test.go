package remote

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func writeProgram(t testing.TB, file, text string) {
	t.Helper()
	check(t, os.WriteFile(file+".new", []byte(text+"\n"), 0o755))
	check(t, os.Rename(file+".new", file))
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// onlyFile checks that a directory holds one file with this content.
func onlyFile(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("%s holds %v, not only %s", dir, entries, name)
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s: %d bytes of %d, or other ones: %v", name, len(got), len(data), err)
	}
}

func TestPush(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	local := filepath.Join(t.TempDir(), "binary")
	data := make([]byte, 20<<20)
	_, _ = rand.Read(data)
	check(t, os.WriteFile(local, data, 0o600))
	dir := filepath.Join(t.TempDir(), "new dir's", "$HOME")
	target := filepath.Join(dir, "sweep 1")
	pushed, err := h.PushFile(ctx, local, target, 0o755)
	if err != nil || pushed.Skipped || pushed.Verified != "sha256" {
		t.Fatalf("%+v, %v", pushed, err)
	}
	onlyFile(t, dir, "sweep 1", data)
	check(t, os.Chmod(target, 0o600))
	if pushed, err = h.PushFile(ctx, local, target, 0o755); err != nil || !pushed.Skipped {
		t.Errorf("again: %+v, %v", pushed, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// Damage of the same size is found.
	damaged := bytes.Clone(data)
	damaged[100]++
	check(t, os.WriteFile(target, damaged, 0o755))
	if pushed, err = h.PushFile(ctx, local, target, 0o755); err != nil || pushed.Skipped {
		t.Errorf("damaged: %+v, %v", pushed, err)
	}
	onlyFile(t, dir, "sweep 1", data)
	if _, err = h.Push(ctx, bytes.NewReader(nil), 0, sumOf(nil), filepath.Join(dir, "empty"), 0o600); err != nil {
		t.Errorf("empty: %v", err)
	}
}

func TestPushThatFailsLeavesNothing(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	dir := t.TempDir()
	check(t, os.WriteFile(dir+"/old", []byte("old"), 0o600))
	for name, push := range map[string]func() error{
		"wrong sum": func() error {
			_, err := h.Push(ctx, strings.NewReader("new"), 3, sumOf([]byte("other")), dir+"/old", 0o600)
			return err
		},
		"source too short": func() error {
			_, err := h.Push(ctx, strings.NewReader("new"), 30, sumOf([]byte("new")), dir+"/old", 0o600)
			return err
		},
		"below a file": func() error {
			_, err := h.Push(ctx, strings.NewReader("new"), 3, sumOf([]byte("new")), dir+"/old/x", 0o600)
			return err
		},
		"a directory": func() error { _, err := h.PushFile(ctx, dir+"/old", dir, 0o600); return err },
		"relative":    func() error { _, err := h.PushFile(ctx, dir+"/old", "x", 0o600); return err },
		"line break":  func() error { _, err := h.PushFile(ctx, dir+"/old", dir+"/a\nb", 0o600); return err },
	} {
		if err := push(); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
		onlyFile(t, dir, "old", []byte("old"))
	}
}

// mount makes a file system for a test that may.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mount is not allowed here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir
}

func TestPushToAFullDisk(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	dir := mount(t, "size=1m")
	check(t, os.WriteFile(dir+"/other", nil, 0o600))
	data := make([]byte, 8<<20)
	_, err := h.Push(deadline(t), bytes.NewReader(data), int64(len(data)), sumOf(data), dir+"/file", 0o600)
	var full *FullError
	if !errors.As(err, &full) || full.Dir != dir || full.Free != 1<<20 {
		t.Errorf("got %v", err)
	}
	onlyFile(t, dir, "other", nil)
}

func TestCanExec(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	dir := t.TempDir()
	if can, err := h.CanExec(deadline(t), dir+"/new"); !can || err != nil {
		t.Errorf("%v, %v", can, err)
	}
	if can, err := h.CanExec(deadline(t), "/proc/nope"); can || err == nil {
		t.Errorf("/proc: %v, %v", can, err)
	}
	if can, err := h.CanExec(deadline(t), mount(t, "size=1m,noexec")); can || err != nil {
		t.Errorf("noexec: %v, %v", can, err)
	}
}

func TestPullGoesOnWhereItWas(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	file := filepath.Join(t.TempDir(), "a file's log")
	data := make([]byte, 9<<20+12345)
	_, _ = rand.Read(data)
	check(t, os.WriteFile(file, data, 0o600))
	for _, offset := range []int64{0, 1, block - 1, block, block + 1, 5 << 20, int64(len(data)) - 1, int64(len(data))} {
		var got bytes.Buffer
		next, err := h.Pull(ctx, file, offset, &got)
		if err != nil || next != int64(len(data)) || !bytes.Equal(got.Bytes(), data[offset:]) {
			t.Errorf("from %d: next %d, %d bytes, %v", offset, next, got.Len(), err)
		}
	}
	var replaced *ReplacedError
	if _, err := h.Pull(ctx, file, int64(len(data))+1, &bytes.Buffer{}); !errors.As(err, &replaced) {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := h.Pull(ctx, file+"x", 0, &bytes.Buffer{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := h.Pull(ctx, "/dev/zero", 0, &bytes.Buffer{}); err == nil {
		t.Error("a device was read")
	}
}
