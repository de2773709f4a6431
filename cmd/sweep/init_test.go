package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// fakeSMI is a host with so many GPUs, as nvidia-smi tells of them.
type fakeSMI int

func (n fakeSMI) Run(_ context.Context, argv ...string) ([]byte, int, error) {
	if n == 0 {
		return nil, -1, errors.New("no nvidia-smi\nname: injected")
	}
	var b strings.Builder
	for i := range int(n) {
		if strings.Contains(argv[1], "--query-gpu") {
			fmt.Fprintf(&b, "%d, GPU-%d, NVIDIA RTX PRO 6000 Blackwell, 10, 97887, 580.95\n", i, i)
		}
	}
	return []byte(b.String()), 0, nil
}

// fakePython answers the question for packages as an interpreter would.
func fakePython(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	script := "#!/bin/sh\necho '{\"torch\": \"2.9\"}'\n"
	if version != "" {
		script = "#!/bin/sh\necho '{\"sglang\": \"" + version + "\"}'\n"
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func put(t *testing.T, size int, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(name)
}

// starterPlan reads a starter as `sweep plan` does.
func starterPlan(t *testing.T, s starter, host sweep.Host) (string, *sweep.Spec, *sweep.Plan) {
	t.Helper()
	text, err := s.text()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := sweep.Decode(s.File, text)
	if err != nil {
		t.Fatal(err)
	}
	spec = spec.On(host)
	plan, err := sweep.NewPlan(spec, sweep.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), spec, plan
}

// TestInitPlansWithoutWarnings: for usual and odd numbers of GPUs and every known release,
// judged by that release's flags on a host with so many GPUs.
func TestInitPlansWithoutWarnings(t *testing.T) {
	for _, version := range append(sglang.Versions(), "") {
		python := fakePython(t, version)
		for _, gpus := range []int{0, 1, 2, 3, 4, 6, 8, 16} {
			list, _ := sglang.Flags(version)
			if gpus == 0 {
				list, _ = sglang.Flags(simDefault) // of the simulated server, whatever is installed
			}
			host := sweep.Host{Alias: "local", GPUs: gpus}
			s := newStarter(t.Context(), "x.yaml", host, surroundings{command: fakeSMI(gpus), pythons: []string{"/nowhere/python3", python}})
			text, spec, plan := starterPlan(t, s, host)
			report := sweep.CheckFlags(plan, list, sweep.FlagCheck{GPUs: plan.GPUs, Strict: true})
			if report.Err(spec) != nil || report.Warnings != nil || plan.Warnings != nil || sweep.InertGroups(plan, list) != nil {
				t.Errorf("%d GPUs, sglang %q: %v %v %v\n%s", gpus, version, report, plan.Warnings, sweep.InertGroups(plan, list), text)
			}
			if (s.Simulated != "") != (gpus == 0) || (s.Python == "") != (version == "" || gpus == 0) {
				t.Errorf("%d GPUs, sglang %q: simulated %q, Python %q", gpus, version, s.Simulated, s.Python)
			}
			if n := len(plan.Configurations); n > 12 {
				t.Errorf("%d GPUs: %d configurations are no first night", gpus, n)
			}
		}
	}
}

func TestInitSharesTheGPUs(t *testing.T) {
	s := newStarter(t.Context(), "x.yaml", sweep.Host{Alias: "local"}, surroundings{command: fakeSMI(8)})
	got := ""
	for _, p := range s.Parallel {
		got += fmt.Sprintf("%s=%d×%d ", p.Label, p.TP, p.PP)
	}
	if want := "tp8=8×1 tp4-pp2=4×2 tp2-pp4=2×4 tp1-pp8=1×8 "; got != want || s.Cards != "8 × NVIDIA RTX PRO 6000 Blackwell, 96 GiB each" {
		t.Errorf("got %q on %q", got, s.Cards)
	}
}

func TestInitFindsModels(t *testing.T) {
	root := t.TempDir()
	put(t, 10, root, "plain", "config.json")
	plain := put(t, 300, root, "plain", "model.safetensors")
	blob := put(t, 500, root, "hub", "models--org--big", "blobs", "x")
	snapshot := put(t, 10, root, "hub", "models--org--big", "snapshots", "abc", "config.json")
	if err := os.Symlink(filepath.Join(blob, "x"), filepath.Join(snapshot, "model-00001-of-00001.safetensors")); err != nil {
		t.Fatal(err)
	}
	put(t, 10, root, "half", "config.json")
	half := put(t, 900, root, "half", "model-00001-of-00002.safetensors")
	put(t, 10, root, "no-weights", "config.json")
	put(t, 10, root, "no-config", "model.safetensors")
	put(t, 10, root, "a", "b", "c", "d", "deep", "config.json")
	put(t, 10, root, "a", "b", "c", "d", "deep", "model.safetensors")
	put(t, 10, root, "bad\xff", "config.json")
	put(t, 10, root, "bad\xff", "model.safetensors")
	if err := os.Symlink(root, filepath.Join(root, "circle")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range findModels(t.Context(), []string{root, filepath.Join(root, "missing"), root}) {
		if !strings.Contains(m.dir, "circle") {
			got = append(got, strings.TrimPrefix(m.dir, root)+": "+m.String())
		}
	}
	want := strings.TrimPrefix(snapshot, root) + ": org/big, this very revision, 0.0 GB of weights\n" +
		strings.TrimPrefix(plain, root) + ": 0.0 GB of weights\n" +
		strings.TrimPrefix(half, root) + ": 0.0 GB of weights, INCOMPLETE: 1 of 2 files"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}

	s := newStarter(t.Context(), "x.yaml", sweep.Host{Alias: "local"}, surroundings{command: fakeSMI(2), models: []string{half}})
	if text, _, _ := starterPlan(t, s, sweep.Host{}); s.Model != "" || !strings.Contains(text, "# TODO: the directory of a model") || !strings.Contains(text, "INCOMPLETE") {
		t.Errorf("half a model is taken for one:\n%s", text)
	}
}

// TestInitKeepsOddNamesInTheirPlace: a path or a name of this machine never becomes YAML.
func TestInitKeepsOddNamesInTheirPlace(t *testing.T) {
	root := filepath.Join(t.TempDir(), "models # \"x\"\nname: injected")
	put(t, 1, root, "m: {y}", "config.json")
	dir := put(t, 2, root, "m: {y}", "model.safetensors")
	put(t, 1, root, "other\nmatrix:", "config.json")
	put(t, 1, root, "other\nmatrix:", "model.safetensors")
	s := newStarter(t.Context(), "it's.yaml", sweep.Host{Alias: "local"}, surroundings{command: fakeSMI(1), models: []string{root}})
	text, spec, _ := starterPlan(t, s, sweep.Host{})
	for _, f := range spec.Server.Flags {
		if f.Name == "model-path" && f.Value.Words[0] != dir {
			t.Errorf("model-path is %q, want %q", f.Value.Words[0], dir)
		}
	}
	if spec.Name != "first" || len(spec.Axes) != 2 || !strings.Contains(text, `# also here: `) {
		t.Errorf("name %q, %d axes:\n%s", spec.Name, len(spec.Axes), text)
	}
	starterPlan(t, newStarter(t.Context(), "-", sweep.Host{Alias: "local"}, surroundings{command: fakeSMI(0)}), sweep.Host{})
}

func TestInitGoesByHostsFile(t *testing.T) {
	host := sweep.Host{Alias: "rtx6k", GPUs: 4, ModelDirs: []string{"/models"}, Container: sweep.Container{Runtime: sweep.RuntimePct, Instance: "129"}}
	s := newStarter(t.Context(), "x.yaml", host, surroundings{command: fakeSMI(8), pythons: []string{fakePython(t, "0.5.17")}})
	text, spec, plan := starterPlan(t, s, host)
	if spec.Host != "rtx6k" || s.Python != "" || s.Parallel[0].TP != 4 || plan.Configurations[0].Container.Instance != "129" {
		t.Errorf("host %q, Python %q, %v, %v", spec.Host, s.Python, s.Parallel, plan.Configurations[0].Container)
	}
	for _, want := range []string{"The host could not be asked, so", "runtime pct, 4 GPUs, models in /models", "# TODO: the Python", "# TODO: the directory of a model"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestInitTellsAnotherSweep: what a sweep elsewhere asks is answered as JSON, and makes a file
// that plans, whatever the answer holds.
func TestInitTellsAnotherSweep(t *testing.T) {
	var out, said strings.Builder
	if code := run(t.Context(), []string{"sweep", "init", "--tell"}, streams{strings.NewReader(`{"gpus":4,"runtime":"pct","model_dirs":["/models"]}`), &out, &said}); code != exitOK {
		t.Fatalf("code %d: %s", code, said.String())
	}
	var f findings
	if err := json.Unmarshal([]byte(out.String()), &f); err != nil || f.GPUs != 4 || !strings.Contains(f.NoModel, "/models") {
		t.Fatalf("%v: %s", err, out.String())
	}
	f.Sglang, f.Python, f.Cards, f.Model, f.ModelSays = "0.5\nname: injected", "/opt/p y\"\n", "x\nname: injected", "/m: {\n", "\nname: injected"
	host := sweep.Host{Alias: "lab1"}
	s := starterFor("x.yaml", host, f)
	s.Asked = true
	text, spec, _ := starterPlan(t, s, host)
	if spec.Name != "x" || spec.Host != "lab1" || !strings.Contains(text, "It was asked over SSH") || s.Parallel[0].TP != 4 {
		t.Errorf("name %q, host %q:\n%s", spec.Name, spec.Host, text)
	}
}
