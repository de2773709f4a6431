package sweep

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sweep/internal/sglang"
)

// inertFile has an axis that does nothing on 0.5.10 with this MoE backend, and
// sizes of graphs that are off on one side.
const inertFile = `name: inert
server:
  command: [python3, -m, sglang.launch_server]
  flags: {model-path: m, tp-size: 8, moe-runner-backend: flashinfer_cutlass}
matrix:
  autotune:
    "on":  {}
    "off": {disable-flashinfer-autotune: true}
  graph:
    "off":   {disable-cuda-graph: true}
    off-256: {disable-cuda-graph: true, cuda-graph-max-bs: 256}
    bs256:   {cuda-graph-max-bs: 256}
baseline: {autotune: "off", graph: "off"}
bench:
  workloads: {w: {input-len: 256, output-len: 128}}
  levels: [{concurrency: 1}]
repeats: 2
`

func TestInertGroups(t *testing.T) {
	plan := planOf(t, inertFile, PlanOptions{})
	fs, _ := sglang.Flags("0.5.10.post1")
	const autotune = "disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend"
	const graph = "cuda-graph-max-bs does nothing: CUDA graphs of decoding are disabled"
	want := []InertGroup{
		{Keep: "autotune=off,graph=off", Drop: []Double{{Name: "autotune=on,graph=off", Why: autotune}, {Name: "autotune=on,graph=off-256", Why: autotune + "; " + graph}, {Name: "autotune=off,graph=off-256", Why: graph}}},
		{Keep: "autotune=on,graph=bs256", Drop: []Double{{Name: "autotune=off,graph=bs256", Why: autotune}}},
	}
	groups := InertGroups(plan, fs)
	if diff := cmp.Diff(want, groups, cmpopts.IgnoreFields(Double{}, "ID")); diff != "" {
		t.Error(diff)
	}
	if text := InertText(groups); text != "4 configurations repeat others: "+autotune+"; "+graph+"; --drop-inert leaves them out" {
		t.Error(text)
	}
	now, _ := sglang.Flags("0.5.17")
	if groups := InertGroups(plan, now); len(groups) != 2 || InertText(groups) == "" {
		t.Errorf("on 0.5.17: %+v", groups) // autotune is real there, sizes without graphs are not
	}
	if text := InertText(nil); text != "" {
		t.Error(text)
	}
	if text := InertText([]InertGroup{{Drop: []Double{{Why: "x does nothing: y"}}}}); text != "1 configuration repeats another one: x does nothing: y; --drop-inert leaves it out" {
		t.Error(text)
	}
}

// TestDropInert: what repeats another is gone, listed with its reason; the plan
// is what it would be had the file never asked for them.
func TestDropInert(t *testing.T) {
	plan := planOf(t, inertFile, PlanOptions{})
	before := *plan
	fs, _ := sglang.Flags("0.5.10.post1")
	got := plan.DropInert(fs)
	if diff := cmp.Diff(&before, plan); diff != "" {
		t.Errorf("the given plan changed: %s", diff)
	}
	var names, dropped []string
	for _, c := range got.Configurations {
		names = append(names, c.Name)
	}
	for _, d := range got.Dropped {
		dropped = append(dropped, d.Name+" by "+d.Rule)
	}
	if diff := cmp.Diff([]string{"autotune=on,graph=bs256", "autotune=off,graph=off"}, names); diff != "" {
		t.Error(diff)
	}
	if len(dropped) != 4 || dropped[0] != "autotune=on,graph=off by inert, as autotune=off,graph=off: disable-flashinfer-autotune does nothing: this version has nothing to autotune with the chosen MoE backend" {
		t.Errorf("%q", dropped)
	}
	byHand := planOf(t, inertFile[:len(inertFile)-len("repeats: 2\n")]+`repeats: 2
exclude:
  - {autotune: "on", graph: "off"}
  - {graph: off-256}
  - {autotune: "off", graph: bs256}
`, PlanOptions{})
	if diff := cmp.Diff(byHand.Runs, got.Runs); diff != "" {
		t.Error(diff)
	}
	if got.Hash != byHand.Hash || got.Hash == plan.Hash {
		t.Errorf("hash %s, by hand %s, whole %s", got.Hash, byHand.Hash, plan.Hash)
	}
	if again := got.DropInert(fs); again != got {
		t.Error("a second time drops more")
	}
}

// TestDropInertKeepsSkippedLevels: what a run leaves out above its cap stays
// left out.
func TestDropInertKeepsSkippedLevels(t *testing.T) {
	plan := planOf(t, `name: skip
server:
  command: [python3, -m, sglang.launch_server]
  flags: {model-path: m, disable-cuda-graph: true, max-running-requests: 8}
matrix: {cuda-graph-max-bs: [8, 16]}
bench:
  workloads: {w: {input-len: 256, output-len: 128}}
  levels: [{concurrency: [1, 16, 32]}]
`, PlanOptions{})
	fs, _ := sglang.Flags("")
	got := plan.DropInert(fs)
	if len(got.Runs) != 1 || len(plan.Runs[0].Skip) == 0 || !cmp.Equal(got.Runs[0].Skip, plan.Runs[0].Skip) {
		t.Errorf("%+v\n%+v", plan.Runs, got.Runs)
	}
}

// TestInertNeedsTheSamePlace: in another container, or with another command,
// nothing is a double.
func TestInertNeedsTheSamePlace(t *testing.T) {
	plan := planOf(t, complete(`server: {command: [python3, -m, sglang.launch_server], flags: {model-path: m, disable-cuda-graph: true}}
matrix:
  a:
    x: {cuda-graph-max-bs: 8}
    y: {cuda-graph-max-bs: 9, command: [/opt/venv/bin/python3, -m, sglang.launch_server]}
    z: {cuda-graph-max-bs: 9, env: {SOME_FLAG: "1"}}
    u: {cuda-graph-max-bs: 9, env: {SOME_FLAG: null}}
`), PlanOptions{})
	fs, _ := sglang.Flags("0.5.10.post1")
	if groups := InertGroups(plan, fs); groups != nil {
		t.Error(groups)
	}
}
