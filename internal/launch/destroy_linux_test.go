package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDestroyAfterACreateThatFailed: where no binary could be put, nothing was
// made, and what was begun can be removed.
func TestDestroyAfterACreateThatFailed(t *testing.T) {
	// 5 words: is a binary there? 7: put one there.
	rt := stubLXC(t, `case $# in 5) exit 9;; 7) cat >/dev/null; echo /var/lib/sweep is full >&2; exit 8;; esac; exit 127`)
	delete(rt.homes, "x")
	rt.bin = fakeBinary(t)
	spec := InstanceSpec{Name: "sweep-1", Labels: map[string]string{"run": "r"}, Origin: Origin{Instance: "x"}}
	if _, err := rt.Create(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "is full") {
		t.Fatalf("create: %v", err)
	}
	if err := rt.Destroy(t.Context(), Instance{Name: spec.Name}); err != nil {
		t.Errorf("destroy: %v", err)
	}
	list, err := rt.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range list {
		if in.Name == spec.Name {
			t.Errorf("it is still listed: %+v", in)
		}
	}
}

func fakeBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sweep-0123456789abcdef")
	if err := os.WriteFile(path, []byte("binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLXCRefusalIsNotGone: lxc-info answers 1 for a container that is not there
// and for anything else that it cannot do. What is there is not forgotten.
func TestLXCRefusalIsNotGone(t *testing.T) {
	path := t.TempDir()
	rt := stubLXC(t, "exit 1")
	rt.engine.(*lxc).path = path
	dir := strings.Split(os.Getenv("PATH"), ":")[0]
	if err := os.WriteFile(filepath.Join(dir, "lxc-info"), []byte("#!/bin/sh\necho Insufficient privileges >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.engine.look(t.Context(), "nowhere"); !errors.Is(err, ErrGone) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := os.Mkdir(filepath.Join(path, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.engine.look(t.Context(), "x"); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("one that may not be looked at: %v", err)
	}
	if err := rt.Destroy(t.Context(), Instance{Name: "i"}); err == nil {
		t.Error("an instance in it was given up")
	}
}
