package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sweep/internal/check"
	"sweep/internal/gpu"
	"sweep/internal/runner"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// surroundings are where a starter is looked for on this machine.
type surroundings struct {
	command gpu.Commander
	models  []string // directories to search for models
	pythons []string // interpreters to ask for sglang
}

// whereToLook are the usual places: where Hugging Face keeps its downloads, what
// hosts.yaml names, and environments that sglang is commonly installed in.
func whereToLook(modelDirs []string) surroundings {
	home, _ := os.UserHomeDir() // findHome has made sure of one
	at := surroundings{command: runner.Local{}, models: modelDirs}
	if cache := os.Getenv("HF_HOME"); cache != "" {
		at.models = append(at.models, filepath.Join(cache, "hub"))
	}
	at.models = append(at.models, filepath.Join(home, ".cache", "huggingface", "hub"))
	for _, venv := range []string{".venv", filepath.Join(home, "venv"), "/opt/venv"} {
		at.pythons = append(at.pythons, filepath.Join(venv, "bin", "python3"))
	}
	if python, err := exec.LookPath("python3"); err == nil {
		at.pythons = append(at.pythons, python)
	}
	return at
}

// python finds the first interpreter that sglang is installed for. Its path is
// not resolved: the link in an environment is what makes it that environment's.
func (s *findings) python(ctx context.Context, candidates []string) {
	var asked []string
	for _, candidate := range candidates {
		path, err := filepath.Abs(candidate)
		if err != nil {
			continue
		}
		asked = append(asked, path)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if version := check.Packages(ctx, sweep.Configuration{Command: []string{path}})["sglang"]; version != "" {
			s.Python, s.Sglang = path, version
			return
		}
	}
	s.NoPython = "None was found: " + cmp.Or(strings.Join(asked, ", "), "nothing to ask")
}

func (s *findings) model(ctx context.Context, roots []string) {
	models := findModels(ctx, roots)
	if len(models) > 0 && models[0].whole() {
		s.Model, s.ModelSays = models[0].dir, models[0].String()
		models = models[1:]
	} else {
		s.NoModel = "None was found in " + strings.Join(roots, ", ")
	}
	const most = 8
	for i, m := range models {
		if i == most {
			s.Models = append(s.Models, fmt.Sprintf("and %d more", len(models)-most))
			break
		}
		s.Models = append(s.Models, m.dir+" ("+m.String()+")")
	}
}

// graphsOff are the flags that turn CUDA graphs off: sglang renamed them in
// 0.5.14. The older name is taken by all, so an unknown release gets that.
func graphsOff(version string) string {
	if list, _ := sglang.Flags(version); version != "" && list.Lookup("cuda-graph-backend-decode") != nil {
		return "cuda-graph-backend-decode: disabled, cuda-graph-backend-prefill: disabled"
	}
	return "disable-cuda-graph: true"
}

// cards names the GPUs in a few words.
func cards(seen gpu.Snapshot, gpus int) string {
	if len(seen.GPUs) == 0 {
		return fmt.Sprintf("%d, as hosts.yaml says; none was seen (%s)", gpus, seen.Note)
	}
	text := fmt.Sprintf("%d × %s", len(seen.GPUs), seen.GPUs[0].Name)
	if total := seen.GPUs[0].MemoryTotal; total != nil {
		text += fmt.Sprintf(", %.0f GiB each", math.Round(float64(*total)/1024))
	}
	if len(seen.GPUs) != gpus {
		text += fmt.Sprintf("; hosts.yaml says %d of them", gpus)
	}
	return text
}

// hostSays sums up an entry of hosts.yaml.
func hostSays(h sweep.Host) string {
	if h.Address == "" && h.GPUs == 0 && h.Container.Runtime == "" && h.ModelDirs == nil {
		return "nothing"
	}
	parts := []string{"the runtime " + cmp.Or(h.Container.Runtime, sweep.RuntimeProcess)}
	if h.GPUs > 0 {
		parts = append(parts, fmt.Sprintf("%d GPUs", h.GPUs))
	}
	if h.ModelDirs != nil {
		parts = append(parts, "models in "+strings.Join(h.ModelDirs, ", "))
	}
	return strings.Join(parts, ", ")
}
