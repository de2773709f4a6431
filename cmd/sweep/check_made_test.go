package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sweep/internal/sweep"
)

// What a server is made of goes on record with each attempt: here the model,
// and why the rest is not known.
func TestRecordTellsTheModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	model := filepath.Join(p.dir, "models", "GLM-5")
	yaml := strings.Replace(fmt.Sprintf(gpuNight, p.port, binary), "sim/small-8b", model, 1)
	for name, text := range map[string]string{p.file: strings.Replace(yaml, "[64, 2]", "[64]", 1), filepath.Join(model, "config.json"): "{}", filepath.Join(model, "model.safetensors"): "xyz"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.mustRun("run", p.file)
	records, err := filepath.Glob(filepath.Join(p.dir, "data", "sweep", "runs", "*", "*", "attempt-1", "record.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	text, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	var r sweep.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	f := r.Fingerprint
	if f.Model == nil || f.Model.Bytes != 3 || len(f.Model.Digest) != 64 || len(f.Caches) == 0 {
		t.Errorf("model %+v, caches %v", f.Model, f.Caches)
	}
	if f.Install != nil || !strings.Contains(f.Unknown["install"], "no Python") || f.Unknown["model"] != "" {
		t.Errorf("install %+v, unknown %v", f.Install, f.Unknown)
	}
	if f.Host.Cmdline == "" && f.Host.Unknown["cmdline"] == "" {
		t.Errorf("the kernel's command line: %+v", f.Host)
	}
}
