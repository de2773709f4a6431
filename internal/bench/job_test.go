package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeJob(t *testing.T, job any) string {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunJob(t *testing.T) {
	f := newFake(t, well)
	job := f.job(2, 6, 3)
	out := filepath.Join(t.TempDir(), "deep", "out")
	var stdout bytes.Buffer
	if code := RunJob(t.Context(), writeJob(t, job), out, &stdout); code != 0 {
		t.Fatalf("exit %d: %s", code, stdout.String())
	}
	text, err := os.ReadFile(filepath.Join(out, "measurement.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m Measurement
	if err := json.Unmarshal(text, &m); err != nil || m.Completed != 6 || m.Key != job.Level.Key() || m.Schema != 1 || !m.Usable() {
		t.Errorf("measurement %+v (%v)", m, err)
	}
	if !bytes.Contains(text, []byte(`"goodput": null`)) {
		t.Error("what was not measured is not null")
	}
	lines, err := os.ReadFile(filepath.Join(out, "requests.jsonl"))
	if err != nil || bytes.Count(lines, []byte("\n")) != 6 {
		t.Errorf("requests.jsonl: %v\n%s", err, lines)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var r Request
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Index != i {
			t.Errorf("line %d: %v %s", i, err, line)
		}
	}
	var last Progress
	for line := range strings.Lines(stdout.String()) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Errorf("stdout line %q: %v", line, err)
		}
	}
	if last != (Progress{"progress", 6, 6}) {
		t.Errorf("the last line says %+v", last)
	}
	if entries, _ := os.ReadDir(out); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestRunJobWithoutAMeasurement(t *testing.T) {
	f := newFake(t, func(c *call) { c.write("HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n") })
	for want, path := range map[string]string{
		"all 2 requests failed": writeJob(t, f.job(2, 6, 3)),
		"read the job":          filepath.Join(t.TempDir(), "missing.json"),
		"unknown field":         writeJob(t, map[string]any{"schema": 1, "uri": "x"}),
		"want http://":          writeJob(t, Job{Schema: 1, Level: f.job(1, 1, 1).Level}),
	} {
		out := t.TempDir()
		var stdout bytes.Buffer
		code := RunJob(t.Context(), path, out, &stdout)
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		var said struct{ Error string }
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || code != 1 || !strings.Contains(said.Error, want) {
			t.Errorf("exit %d, said %q (%v), want %q", code, stdout.String(), err, want)
		}
		if entries, _ := os.ReadDir(out); len(entries) != 0 {
			t.Errorf("left behind: %v", entries)
		}
	}
}

// Nothing of a measurement is ever in $TMPDIR, which may be another disk, or full.
func TestTemporaryFilesAreBesideTheirTargets(t *testing.T) {
	f := newFake(t, well)
	out, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	looked := false
	_, err := RunInto(t.Context(), f.job(1, 2, 3), out, func(p Progress) {
		here, _ := os.ReadDir(out)
		there, _ := os.ReadDir(elsewhere)
		looked = true
		if len(here) != 1 || len(there) != 0 {
			t.Errorf("%s: files beside the targets %v, elsewhere %v", p.Type, here, there)
		}
	})
	if err != nil || !looked {
		t.Errorf("looked %v, error %v", looked, err)
	}
}
