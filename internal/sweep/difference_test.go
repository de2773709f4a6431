package sweep

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDifferences: configurations are told apart by what was changed, and a
// name given by hand says what it stands for, whether its flags come from labels
// or lie on top.
func TestDifferences(t *testing.T) {
	for file, want := range map[string][]Difference{
		"../../sweeps/demo.yaml": {{Name: "max-running-requests=8"}, {Name: "baseline"}, {Name: "cuda-graph=off"},
			{"small-prefill", "baseline + chunked-prefill-size=512"}},
		"../../sweeps/glm5-overnight.yaml": {{Name: "baseline"}, {Name: "p2p=phb"}, {Name: "p2p=off"}, {Name: "fp4-gemm=cutlass"}, {Name: "moe=cutlass"},
			{Name: "cuda-graph=bs256"}, {Name: "max-running-requests=512"}, {Name: "max-running-requests=64"}, {Name: "autotune=on"}, {Name: "parallel=tp4-pp2"},
			{"pp2-p2p-off", "baseline + parallel=tp4-pp2, p2p=off"},
			{"autotune-fp4-cutlass", "baseline + autotune=on, fp4-gemm=cutlass"},
			{"cap256-graphs", "baseline + cuda-graph=bs256, max-running-requests=256"},
			{"card-recipe", "baseline + autotune=on, cuda-graph=bs256, p2p=phb, max-running-requests=8, mem-fraction-static=0.95"}},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := Decode(file, text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(spec, PlanOptions{MaxConfigs: 500})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plan.Differences()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
}

// TestDifferencesWithoutLabels: where no label explains a flag, all that is set
// otherwise is named, also what is left out.
func TestDifferencesWithoutLabels(t *testing.T) {
	const text = `name: x
server: {command: [sweep, sim], flags: {a-flag: 1}, env: {A: "1"}}
matrix: {graphs: {"on": {}, "off": {disable-cuda-graph: true}}}
include:
  - {name: baseline, at: {graphs: "on"}, set: {tp-size: 2, env: {A: null}}}
  - {name: alone, at: {graphs: "off"}, set: {disable-cuda-graph: false, command: [other]}}
baseline: {graphs: "off"}
bench: {workloads: {w: {input-len: 1, output-len: 1}}, levels: [{concurrency: 1}]}
`
	spec, err := Decode("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Difference{{Name: "graphs=on"}, {Name: "graphs=off"}, // two would be called baseline
		{"baseline", "baseline + graphs=on, tp-size=2, A unset"},
		{"alone", "baseline + command other, without disable-cuda-graph"}}
	if diff := cmp.Diff(want, plan.Differences()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	alone, err := NewPlan(spec, PlanOptions{Only: []string{"alone"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Difference{{Name: "alone"}}, alone.Differences()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
