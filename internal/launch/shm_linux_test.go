package launch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSharedMemoryThatNobodyHasOpenIsRemoved(t *testing.T) {
	dir := t.TempDir()
	since := time.Now()
	write := func(name string, at time.Time) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := []string{write("nccl-AbC", since.Add(time.Second)), write("psm_12ab", since.Add(time.Second))}
	kept := []string{write("nccl-old", since.Add(-time.Hour)), write("database", since.Add(time.Second)), write("psm_open", since.Add(time.Second))}
	f, err := os.Open(kept[2])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, left := removeShm(dir, since); n != len(gone) || left != nil {
		t.Errorf("removed %d, left %q", n, left)
	}
	for _, path := range gone {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: older, another's name, or open", path)
		}
	}
}
