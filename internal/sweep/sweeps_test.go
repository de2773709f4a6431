package sweep

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/matrix"
)

const schemaLine = "# yaml-language-server: $schema=sweep.schema.json\n"

func sweepFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../sweeps", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSweepFiles plans every file that comes with sweep.
func TestSweepFiles(t *testing.T) {
	files, err := filepath.Glob("../../sweeps/*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := sweepFile(t, filepath.Base(file))
			plan := planOf(t, text, PlanOptions{})
			if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); plan.Name != want {
				t.Errorf("the sweep is called %s, its file %s", plan.Name, want)
			}
			if len(plan.Warnings) > 0 {
				t.Errorf("warnings: %q", plan.Warnings)
			}
			if !strings.HasPrefix(text, schemaLine) {
				t.Error("it does not begin with the editor's schema line")
			}
			if plan.Name == "demo" && (len(plan.Configurations) > 12 || len(plan.Runs) > 12) {
				t.Errorf("the demo has %d configurations and %d runs: nobody waits for that", len(plan.Configurations), len(plan.Runs))
			}
			for _, l := range plan.Levels {
				if file := l.Workload.Text; file != "" {
					checkPrompts(t, file)
				}
			}
		})
	}
}

// checkPrompts: the prompts that come with sweep are there, and none twice.
func checkPrompts(t *testing.T, file string) {
	seen := map[string]bool{}
	for line := range strings.Lines(sweepFile(t, file)) {
		var p struct{ Prompt string }
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Prompt == "" || seen[p.Prompt] {
			t.Errorf("%s: %q, %v", file, line, err)
		}
		seen[p.Prompt] = true
	}
	if len(seen) < 8 {
		t.Errorf("%s has %d prompts", file, len(seen))
	}
}

// TestProxmoxFiles: each file for the real machine is there for Incus and for
// Proxmox, and the two differ in the container and the name alone. The language
// has no way to include a file, on purpose: a sweep file says all there is.
// `go test -run Proxmox -update` makes the files for Proxmox.
func TestProxmoxFiles(t *testing.T) {
	const incus = "  runtime: incus\n  instance: glm5                  # the container that sglang is installed in; it stays as it is\n"
	const proxmox = "  runtime: pct\n  instance: 129                   # the container that sglang is installed in; it stays as it is\n"
	for _, name := range []string{"glm5-baseline", "glm5-tp8-vs-tp4pp2", "glm5-overnight", "glm5-mtp"} {
		text := sweepFile(t, name+".yaml")
		if strings.Count(text, incus) != 1 {
			t.Errorf("%s.yaml does not have the container of the others", name)
			continue
		}
		want := strings.Replace(text, incus, proxmox, 1)
		want = strings.Replace(want, "name: "+name+"\n", "name: "+name+"-pct\n", 1)
		want = strings.ReplaceAll(want, "sweeps/"+name+".yaml", "sweeps/"+name+"-pct.yaml")
		want = strings.Replace(want, schemaLine, schemaLine+"# For Proxmox. Made from "+name+".yaml by `go test ./internal/sweep -run Proxmox -update`:\n# change that one.\n#\n", 1)
		if *update {
			if err := os.WriteFile("../../sweeps/"+name+"-pct.yaml", []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, sweepFile(t, name+"-pct.yaml")); diff != "" {
			t.Errorf("%s-pct.yaml (-want +got): %s", name, diff)
		}
	}
}

// TestOvernightFitsANight: with eight minutes a start and slow levels the night
// is over in ten hours, every axis is varied, and every value of it is started.
func TestOvernightFitsANight(t *testing.T) {
	spec, err := Decode("glm5-overnight.yaml", []byte(sweepFile(t, "glm5-overnight.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := plan.Estimate(AssumptionsFor(plan), nil)
	if e.Assume.Start < 8*time.Minute || e.Total > 10*time.Hour {
		t.Errorf("%s with %s a start", e.Total, e.Assume.Start)
	}
	if plan.Repeats != 3 || len(plan.Runs) != 3*len(plan.Configurations) {
		t.Errorf("%d repeats, %d runs", plan.Repeats, len(plan.Runs))
	}
	var axes []string
	for _, a := range spec.Axes {
		axes = append(axes, a.Name)
		for _, v := range a.Values {
			if !slices.ContainsFunc(plan.Configurations, func(c Configuration) bool {
				return slices.ContainsFunc(c.Labels, func(l matrix.Label) bool { return l.Axis == a.Name && l.Value == v.Label })
			}) {
				t.Errorf("%s=%s is never started", a.Name, v.Label)
			}
		}
	}
	if diff := cmp.Diff([]string{"parallel", "autotune", "max-running-requests", "cuda-graph", "moe", "fp4-gemm", "p2p"}, axes); diff != "" {
		t.Error(diff)
	}
	t.Logf("%d starts, %s: starts %s, levels %s, rest %s; above-cap saves %d levels, %s", e.Starts, e.Total, e.Start, e.Levels, e.Rest, e.Skipped, e.Saved)
}

// TestSchemaIsUpToDate: the schema beside the sweep files is the one that
// `sweep schema` prints.
func TestSchemaIsUpToDate(t *testing.T) {
	const path = "../../sweeps/sweep.schema.json"
	if *update {
		if err := os.WriteFile(path, JSONSchema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, JSONSchema()) {
		t.Error("sweeps/sweep.schema.json is not what sweep schema prints")
	}
}
