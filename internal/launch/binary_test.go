package launch

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestCachedBinaryIsMadeOnceAndRepaired(t *testing.T) {
	cache := t.TempDir()
	paths := make([]string, 6)
	var wg sync.WaitGroup
	for i := range paths {
		wg.Go(func() {
			var err error
			if paths[i], err = CachedBinary(t.Context(), cache); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	whole := func(when string) os.FileInfo {
		t.Helper()
		got, err := os.ReadFile(paths[0])
		info, statErr := os.Stat(paths[0])
		if err != nil || statErr != nil || !bytes.Equal(got, want) || info.Mode().Perm() != 0o755 {
			t.Fatalf("%s: %d bytes, want %d, mode %v (%v, %v)", when, len(got), len(want), info.Mode(), err, statErr)
		}
		return info
	}
	first := whole("made")
	for _, p := range paths {
		if p != paths[0] || !strings.HasPrefix(p, filepath.Join(cache, "bin", "sweep-")) || len(filepath.Base(p)) != len("sweep-")+16 {
			t.Errorf("one call gives %q, another %q", paths[0], p)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(paths[0])); err != nil || len(entries) != 1 {
		t.Errorf("left beside it: %v (%v)", entries, err)
	}
	if _, err := CachedBinary(t.Context(), cache); err != nil || !os.SameFile(first, whole("again")) {
		t.Errorf("a whole copy was written anew (%v)", err)
	}
	damaged := bytes.Clone(want)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"one bit": damaged, "half": want[:len(want)/2], "empty": nil} {
		if err := os.WriteFile(paths[0], content, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := CachedBinary(t.Context(), cache); err != nil {
			t.Errorf("%s damaged: %v", name, err)
		}
		whole(name)
	}
}

// `go run` removes the binary that it started.
func TestCachedBinaryOfADeletedFile(t *testing.T) {
	if cache := os.Getenv("SWEEP_TEST_DELETED"); cache != "" {
		if err := os.Remove(os.Args[0]); err != nil {
			t.Fatal(err)
		}
		path, err := CachedBinary(t.Context(), cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.CommandContext(t.Context(), path, "-test.run=^$").Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("needs /proc")
	}
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "sweep")
	if err := putFile(t.Context(), binary, bytes.NewReader(text), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := Cmd{Argv: []string{binary, "-test.run=^TestCachedBinaryOfADeletedFile$"}, Env: []string{"SWEEP_TEST_DELETED=" + t.TempDir()}}
	if res, err := execHere(t.Context(), cmd, append(os.Environ(), cmd.Env...), &syscall.SysProcAttr{Setpgid: true}); err != nil || res.Code != 0 {
		t.Errorf("%v, code %d\n%s%s", err, res.Code, res.Stdout, res.Stderr)
	}
}

func TestCachedBinaryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cache := t.TempDir()
	if _, err := CachedBinary(ctx, cache); err == nil {
		t.Error("no error")
	}
}
