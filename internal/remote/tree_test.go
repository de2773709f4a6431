package remote

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func writeFile(t testing.TB, file string, data []byte) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(t, os.WriteFile(file, data, 0o644))
}

func TestPullTree(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	there, here := t.TempDir(), t.TempDir()
	log := make([]byte, 5<<20)
	_, _ = rand.Read(log)
	writeFile(t, there+"/runs/a b/server.log", log)
	writeFile(t, there+"/runs/a b/größe.json", []byte("{}"))
	writeFile(t, there+"/empty", nil)
	writeFile(t, there+"/skipped.tmp", []byte("x"))
	writeFile(t, there+"/.sweep-0123", []byte("under way"))
	writeFile(t, there+"/line\nbreak", []byte("x"))
	writeFile(t, there+"/esc\x1b[31m", []byte("x"))
	writeFile(t, there+`/back\slash`, []byte("x"))
	check(t, os.Symlink("/etc/passwd", there+"/link"))
	check(t, os.Symlink("/etc", there+"/dirlink"))
	check(t, unix.Mkfifo(there+"/pipe", 0o600))
	want := func(name string, _ int64) bool { return !strings.HasSuffix(name, ".tmp") }

	pulled, err := h.PullTree(ctx, there, here, Limits{}, want)
	if err != nil || pulled.Files != 3 || pulled.Bytes != int64(len(log))+2 {
		t.Fatalf("%+v, %v", pulled, err)
	}
	if len(pulled.Refused) < 2 || strings.ContainsRune(strings.Join(pulled.Refused, ""), '\x1b') {
		t.Errorf("refused: %q", pulled.Refused)
	}
	var names []string
	check(t, filepath.WalkDir(here, func(path string, _ os.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(path, here))
		return err
	}))
	if got := strings.Join(names, ","); got != ",/empty,/runs,/runs/a b,/runs/a b/größe.json,/runs/a b/server.log" {
		t.Errorf("here: %s", got)
	}
	onlyFileContent(t, here+"/runs/a b/server.log", log)

	// Only what is new comes.
	more := []byte("and more")
	appendTo(t, there+"/runs/a b/server.log", more)
	pulled, err = h.PullTree(ctx, there, here, Limits{}, want)
	if err != nil || pulled.Files != 1 || pulled.Same != 2 || pulled.Bytes != int64(len(more)) {
		t.Errorf("grown: %+v, %v", pulled, err)
	}
	onlyFileContent(t, here+"/runs/a b/server.log", append(bytes.Clone(log), more...))
	// A longer file that is another one comes whole.
	other := bytes.Repeat([]byte("other "), 1<<20)
	writeFile(t, there+"/runs/a b/server.log", other)
	if pulled, err = h.PullTree(ctx, there, here, Limits{}, want); err != nil || pulled.Bytes != int64(len(other)) {
		t.Errorf("another: %+v, %v", pulled, err)
	}
	onlyFileContent(t, here+"/runs/a b/server.log", other)
	if _, err = h.PullTree(ctx, there+"/nope", here, Limits{}, nil); err == nil {
		t.Error("a missing directory is no error")
	}
}

func onlyFileContent(t testing.TB, file string, data []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s: %d bytes of %d, or other ones: %v", file, len(got), len(data), err)
	}
}

func TestPullTreeHasLimits(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	there := t.TempDir()
	writeFile(t, there+"/big", make([]byte, 1000))
	writeFile(t, there+"/small", make([]byte, 10))
	here := t.TempDir()
	pulled, err := h.PullTree(ctx, there, here, Limits{File: 100}, nil)
	if err != nil || pulled.Files != 1 || len(pulled.Refused) != 1 {
		t.Errorf("%+v, %v", pulled, err)
	}
	for _, limits := range []Limits{{Files: 1}, {Total: 1005}} {
		if _, err := h.PullTree(ctx, there, t.TempDir(), limits, nil); err == nil {
			t.Errorf("%+v is not held", limits)
		}
	}
}

// A link that somebody left in the local directory leads nowhere.
func TestPullTreeStaysInItsDirectory(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	there, here, outside := t.TempDir(), t.TempDir(), t.TempDir()
	writeFile(t, there+"/dir/file", []byte("x"))
	check(t, os.Symlink(outside, here+"/dir"))
	if _, err := h.PullTree(deadline(t), there, here, Limits{}, nil); err == nil {
		t.Error("a link was followed")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	for _, name := range []string{"../x", "/etc/x", "a/../../x", "", "a\nb", `..\x`, "a\x00b"} {
		if safeName(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestStatAndReadDir(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	ctx := deadline(t)
	dir := t.TempDir()
	file := dir + "/it's a file"
	writeFile(t, file, []byte("12345"))
	check(t, os.Mkdir(dir+"/sub", 0o755))
	check(t, os.Symlink(file, dir+"/link"))
	when := time.Unix(1_700_000_000, 0)
	check(t, os.Chtimes(file, when, when))
	info, err := os.Stat(file)
	check(t, err)
	e, err := h.Stat(ctx, file)
	if err != nil || e.Size != 5 || e.Mode != 0o644 || !e.ModTime.Equal(when) || e.Inode != info.Sys().(*syscall.Stat_t).Ino {
		t.Errorf("%+v, %v", e, err)
	}
	entries, err := h.ReadDir(ctx, dir)
	kinds := map[string]os.FileMode{}
	for _, e := range entries {
		kinds[e.Path] = e.Mode.Type()
	}
	if err != nil || len(kinds) != 3 || kinds[dir+"/sub"] != os.ModeDir || kinds[dir+"/link"] != os.ModeSymlink || kinds[file] != 0 {
		t.Errorf("%v, %v", kinds, err)
	}
	for _, err := range []error{second(h.Stat(ctx, dir+"/no")), second(h.ReadDir(ctx, file))} {
		if !os.IsNotExist(err) {
			t.Errorf("got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestPlatform(t *testing.T) {
	h := dial(t, startSSHD(t, "SetEnv XDG_CACHE_HOME=/var/cache/me").settings())
	p, err := h.Platform(deadline(t))
	check(t, err)
	t.Logf("%+v", p)
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if p.OS != "Linux" || p.User != h.Settings().User || p.BootID != strings.TrimSpace(string(boot)) || p.CacheHome != "/var/cache/me" ||
		p.StateHome != p.Home+"/.local/state" || !strings.HasPrefix(p.Shell, "/") {
		t.Errorf("%+v", p)
	}
	if p.Clock > p.ClockError || p.Clock < -p.ClockError {
		t.Errorf("this machine is %v±%v ahead of itself", p.Clock, p.ClockError)
	}
	for text, step := range map[string]time.Duration{"1700000000.123456789": 0, "1700000000.N": time.Second, "1700000000.": time.Second, "1700000000": time.Second} {
		if got, s, ok := readClock(text); !ok || s != step || got.Unix() != 1_700_000_000 {
			t.Errorf("%q: %v, %v, %v", text, got, s, ok)
		}
	}
	if _, _, ok := readClock("Mon Jan 1"); ok {
		t.Error("a date is no clock")
	}
}
