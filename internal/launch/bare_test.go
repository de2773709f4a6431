package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A question to a server's interpreter must reach the one that the server will
// run, not the first of that name in our own PATH.
func TestBareCommandFindsWhatAHeldProcessFinds(t *testing.T) {
	ours, theirs := t.TempDir(), t.TempDir()
	for _, dir := range []string{ours, theirs} {
		if err := os.WriteFile(filepath.Join(dir, "sweep-test-python"), []byte("#!/bin/sh\necho $0 $MORE\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", ours+":"+os.Getenv("PATH"))
	if _, err := BareCommand(t.Context(), []string{"sweep-test-python"}, nil); err == nil || !strings.Contains(err.Error(), "it is not in its PATH /usr/local/sbin:") {
		t.Errorf("our own PATH was searched: %v", err)
	}
	c, err := BareCommand(t.Context(), []string{"sweep-test-python"}, []string{"PATH=/bin:" + theirs, "MORE=more"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Output()
	if want := filepath.Join(theirs, "sweep-test-python") + " more\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	in := Instance{Name: "x"}
	rt := NewProcess(t.TempDir(), t.TempDir())
	if in, err = rt.Create(t.Context(), InstanceSpec{Name: in.Name}); err != nil {
		t.Fatal(err)
	}
	result, err := rt.Exec(t.Context(), in, Cmd{Argv: []string{"sweep-test-python"}, Env: []string{"PATH=/bin:" + theirs}})
	if want := filepath.Join(theirs, "sweep-test-python"); err != nil || !strings.HasPrefix(string(result.Stdout), want) {
		t.Errorf("%v, %q, want %q", err, result.Stdout, want)
	}
}
