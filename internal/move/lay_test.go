package move

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes NAME: text below a directory.
func files(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func textOf(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "none"
	}
	return string(text)
}

const (
	underWayRecord = `{"run":"r","attempt":1,"started":"2026-12-01T05:44:13Z","ended":null}`
	endedRecord    = `{"run":"r","attempt":1,"started":"2026-12-01T05:44:13Z","ended":"2026-12-01T06:44:13Z"}`
	otherRecord    = `{"run":"r","attempt":1,"started":"2026-12-01T07:00:00Z","ended":null}`
)

// What came from the host never replaces something finished by something else.
func TestLay(t *testing.T) {
	for _, c := range []struct {
		name             string
		home, came, want map[string]string
		refused          string
	}{
		{"new", nil, map[string]string{"attempt-1/record.json": underWayRecord}, map[string]string{"attempt-1/record.json": underWayRecord}, ""},
		{"a log grew", map[string]string{"attempt-1/record.json": endedRecord, "attempt-1/server.log": "a\n"}, map[string]string{"attempt-1/server.log": "a\nb\n"},
			map[string]string{"attempt-1/server.log": "a\nb\n"}, ""},
		{"we know more", map[string]string{"events.jsonl": "1\n2\n"}, map[string]string{"events.jsonl": "1\n"}, map[string]string{"events.jsonl": "1\n2\n"}, ""},
		{"it ended", map[string]string{"attempt-1/record.json": underWayRecord}, map[string]string{"attempt-1/record.json": endedRecord},
			map[string]string{"attempt-1/record.json": endedRecord}, ""},
		{"set aside", map[string]string{"attempt-1/record.json": underWayRecord, "attempt-1/levels/a/measurement.json": `{"n":1}`},
			map[string]string{"attempt-1/record.json": underWayRecord, "attempt-1/levels/a/measurement.json": `{"n":2}`, "attempt-1/levels/a/measurement.aside-1.json": `{"n":1}`},
			map[string]string{"attempt-1/levels/a/measurement.json": `{"n":2}`, "attempt-1/levels/a/measurement.aside-1.json": `{"n":1}`}, ""},
		{"finished", map[string]string{"attempt-1/record.json": endedRecord, "attempt-1/levels/a/measurement.json": `{"n":1}`},
			map[string]string{"attempt-1/record.json": endedRecord, "attempt-1/levels/a/measurement.json": `{"n":2}`},
			map[string]string{"attempt-1/levels/a/measurement.json": `{"n":1}`}, "attempt-1/levels/a/measurement.json: it is here, finished"},
		{"record of another", map[string]string{"attempt-1/record.json": underWayRecord, "attempt-1/levels/a/measurement.json": `{"n":1}`},
			map[string]string{"attempt-1/record.json": otherRecord, "attempt-1/levels/a/measurement.json": `{"n":2}`},
			map[string]string{"attempt-1/levels/a/measurement.json": `{"n":1}`, "attempt-1/record.json": underWayRecord}, "finished, with another content"},
		{"reopened", map[string]string{"attempt-1/record.json": endedRecord}, map[string]string{"attempt-1/record.json": underWayRecord},
			map[string]string{"attempt-1/record.json": endedRecord}, "attempt-1/record.json"},
		{"another night", map[string]string{"plan.json": `{"a":1}`, "events.jsonl": "1\n"}, map[string]string{"plan.json": `{"a":2}`, "events.jsonl": "1\n2\n"},
			map[string]string{"plan.json": `{"a":1}`, "events.jsonl": "1\n"}, "another night of that name"},
		{"half a file", map[string]string{"x": ""}, map[string]string{"attempt-1/record.json": endedRecord[:30]}, map[string]string{"attempt-1/record.json": "none"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			home, staging := filepath.Join(dir, "home/runs/c/r"), filepath.Join(dir, "staging")
			files(t, home, c.home)
			if err := seed(home, staging); err != nil {
				t.Fatal(err)
			}
			for name := range c.came { // as PullTree does: another file takes the name
				_ = os.Remove(filepath.Join(staging, name))
			}
			files(t, staging, c.came)
			refused, err := lay(staging, home)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(refused, "\n"); (c.refused == "") != (text == "") || !strings.Contains(text, c.refused) {
				t.Errorf("refused %q, want %q", text, c.refused)
			}
			for name, want := range c.want {
				if got := textOf(home, name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if info, err := os.Stat(filepath.Join(home, "attempt-1/record.json")); err == nil && c.home == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}

// A link or a directory in the place of a file is not followed or replaced.
func TestLayMindsLinks(t *testing.T) {
	dir := t.TempDir()
	home, staging, outside := filepath.Join(dir, "home"), filepath.Join(dir, "staging"), filepath.Join(dir, "outside")
	files(t, home, map[string]string{"a": "1"})
	files(t, staging, map[string]string{"log": "new"})
	files(t, dir, map[string]string{"outside": "old"})
	if err := os.Symlink(outside, filepath.Join(home, "log")); err != nil {
		t.Fatal(err)
	}
	refused, err := lay(staging, home)
	if err != nil || len(refused) != 1 || textOf(dir, "outside") != "old" {
		t.Errorf("%v, %v, outside %q", refused, err, textOf(dir, "outside"))
	}
}
