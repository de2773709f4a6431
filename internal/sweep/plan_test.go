package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sweep/internal/bench"
	"sweep/internal/matrix"
)

// example is the file of the ID tests: changing what it asks changes its IDs.
const example = `name: example
server:
  command: [python3, -m, sglang.launch_server]
  env: {NCCL_IB_DISABLE: "1", NCCL_P2P_LEVEL: SYS}
  flags:
    model-path: lukealonso/GLM-5-NVFP4
    model-loader-extra-config: {enable_multithread_load: true, num_threads: 16}
    trust-remote-code: true
    cuda-graph-bs: [1, 2]
matrix:
  parallel:
    tp8:     {tp-size: 8}
    tp4-pp2: {tp-size: 4, pp-size: 2, env: {NCCL_P2P_LEVEL: null}}
bench:
  workloads: {short: {input-len: 256, output-len: 128}}
  levels:
    - {burst: 256}
    - {concurrency: [64, 1]}
`

func planOf(t *testing.T, text string, o PlanOptions) *Plan {
	t.Helper()
	spec, err := Decode("case.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestIDsStayTheSame: these IDs name directories of measurements that exist.
// If this fails, the canonical form changed and everything measured is orphaned.
func TestIDsStayTheSame(t *testing.T) {
	plan := planOf(t, example, PlanOptions{})
	want := []string{"cd7736a6d8d", "c2e93a09b9a"}
	for i, c := range plan.Configurations {
		if c.ID != want[i] {
			t.Errorf("%s: ID %s, want %s", c.Name, c.ID, want[i])
		}
	}
	if plan.Hash != "26befb6d1fb4ab4a5f9e4d9af0dad3c5ad578db9393d2f336310a4e61e47e59d" {
		t.Errorf("hash %s", plan.Hash)
	}
}

// TestIDCoversWhatIsAsked: each change that starts another server makes another
// ID, and none that starts the same one does.
func TestIDCoversWhatIsAsked(t *testing.T) {
	base := planOf(t, example, PlanOptions{})
	for name, change := range map[string]struct {
		old, new         string
		sameID, sameHash bool
	}{
		"flag value":      {"lukealonso/GLM-5-NVFP4", "lukealonso/GLM-5-NVFP4.1", false, false},
		"spelling":        {"tp-size: 8", "tp-size: 08", false, false},
		"flag more":       {"trust-remote-code: true", "trust-remote-code: true\n    enable-metrics: true", false, false},
		"switch to word":  {"trust-remote-code: true", `trust-remote-code: "true"`, false, false},
		"json":            {"num_threads: 16", "num_threads: 8", false, false},
		"list to word":    {"[1, 2]", `"1 2"`, false, false},
		"variable":        {"SYS", "PHB", false, false},
		"variable unset":  {`NCCL_IB_DISABLE: "1"`, "NCCL_IB_DISABLE: null", false, false},
		"command":         {"[python3,", "[/opt/venv/bin/python3,", false, false},
		"env-file":        {"  flags:\n", "  env-file: /etc/sglang.env\n  flags:\n", false, false},
		"secret":          {"  flags:\n", "  secrets: [HF_TOKEN]\n  flags:\n", true, false},
		"instance":        {"name: example\n", "name: example\ncontainer: {runtime: incus, instance: glm5}\n", false, false},
		"image":           {"name: example\n", "name: example\ncontainer: {runtime: incus, image: glm5}\n", false, false},
		"copy":            {"name: example\n", "name: example\ncontainer: {runtime: incus, copy-of: glm5}\n", false, false},
		"hook":            {"name: example\n", "name: example\nhooks: {before-run: [a]}\n", true, false},
		"cooldown":        {"name: example\n", "name: example\nnight: {cooldown: 1s}\n", true, false},
		"deadline":        {"name: example\n", "name: example\nnight: {deadline: 7:00}\n", true, false},
		"goal":            {"name: example\n", "name: example\ngoals: [{metric: per_stream, min: 1}]\n", true, true},
		"left-out flag":   {"trust-remote-code: true", "trust-remote-code: true\n    enable-metrics: false", true, true},
		"order of flags":  {"    trust-remote-code: true\n    cuda-graph-bs: [1, 2]\n", "    cuda-graph-bs: [1, 2]\n    trust-remote-code: true\n", true, true},
		"short name":      {"{tp-size: 8}", "{tp: 8}", true, true},
		"comment":         {"name: example", "name: example # night", true, true},
		"description":     {"name: example", "name: example\ndescription: x", true, true},
		"name":            {"name: example", "name: other", true, false},
		"label":           {"tp8: ", "all8: ", true, false},
		"workload seed":   {"output-len: 128", "output-len: 128, seed: 2", true, false},
		"levels":          {"[64, 1]", "[64, 1, 2]", true, false},
		"port":            {"  env:", "  base-port: 31000\n  env:", true, false},
		"repeats":         {"name: example", "name: example\nrepeats: 2", true, false},
		"baseline":        {"bench:", "baseline: {parallel: tp4-pp2}\nbench:", true, false},
		"limits":          {"  levels:", "  max-level: 5m\n  levels:", true, false},
		"start-up budget": {"  env:", "  ready: {stall: 5m}\n  env:", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(example, change.old) {
				t.Fatalf("the example has no %q", change.old)
			}
			plan := planOf(t, strings.Replace(example, change.old, change.new, 1), PlanOptions{})
			if same := plan.Configurations[0].ID == base.Configurations[0].ID; same != change.sameID {
				t.Errorf("same ID: %t, want %t", same, change.sameID)
			}
			if same := plan.Hash == base.Hash; same != change.sameHash {
				t.Errorf("same hash: %t, want %t", same, change.sameHash)
			}
		})
	}
}

// TestWordBoundariesAreHashed: words that read alike when joined are different.
func TestWordBoundariesAreHashed(t *testing.T) {
	var h hasher
	a := h.configuration(&Configuration{Command: []string{"a b", "c"}})
	b := h.configuration(&Configuration{Command: []string{"a", "b c"}})
	if a == b {
		t.Error("equal hashes")
	}
}

// TestPlanOrder: repeats interleaved, the baseline first in each pass, ports by
// ordinal.
func TestPlanOrder(t *testing.T) {
	plan := planOf(t, complete("matrix: {tp-size: [2, 4, 8]}\nbaseline: {tp-size: 4}\nrepeats: 2\n"), PlanOptions{})
	var got []string
	for _, r := range plan.Runs {
		got = append(got, fmt.Sprintf("%d %s %d %d", r.Ordinal, plan.Configuration(r.Config).Name, r.Repeat, r.Port))
	}
	want := []string{
		"1 tp-size=4 1 30000", "2 tp-size=2 1 30001", "3 tp-size=8 1 30002",
		"4 tp-size=4 2 30003", "5 tp-size=2 2 30004", "6 tp-size=8 2 30005",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !plan.Configurations[1].Baseline || plan.Configurations[0].Baseline {
		t.Error("the baseline is not marked where it stands")
	}
	if plan.Configuration("c0000000000") != nil {
		t.Error("found a configuration that is not there")
	}
}

// TestRepeatsOnlyAddRuns: what was planned for fewer repeats stays as it is.
func TestRepeatsOnlyAddRuns(t *testing.T) {
	one := planOf(t, example, PlanOptions{})
	three := planOf(t, example+"repeats: 3\n", PlanOptions{})
	if len(three.Runs) != 6 {
		t.Fatalf("%d runs", len(three.Runs))
	}
	if diff := cmp.Diff(one.Runs, three.Runs[:2]); diff != "" {
		t.Error(diff)
	}
}

// TestPortsStartAgain: no planned port leaves the range, however many runs.
func TestPortsStartAgain(t *testing.T) {
	spec, err := Decode("case.yaml", []byte(strings.Replace(example, "  env:", "  base-port: 65000\n  env:", 1)+"repeats: 1000\n"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range plan.Runs {
		if r.Port < 65000 || r.Port > 65535 || r.Argv[len(r.Argv)-1] != fmt.Sprint(r.Port) {
			t.Fatalf("run %d: port %d, argv %q", r.Ordinal, r.Port, r.Argv)
		}
	}
	if p := plan.Runs[536].Port; p != 65000 {
		t.Errorf("run 537 has port %d, want 65000", p)
	}
	spec.BasePort = 70000
	if _, err := NewPlan(spec, PlanOptions{}); err == nil {
		t.Error("a base port of 70000 was accepted")
	}
}

// TestLevels: lists expand in place, single stream first, five prompts a slot.
func TestLevels(t *testing.T) {
	plan := planOf(t, example, PlanOptions{})
	w := bench.Workload{Name: "short", InputLen: 256, OutputLen: 128, Seed: 1}
	want := []bench.Level{
		{Mode: bench.Closed, Concurrency: 1, Prompts: 5, Workload: w},
		{Mode: bench.Burst, Concurrency: 256, Prompts: 256, Workload: w},
		{Mode: bench.Closed, Concurrency: 64, Prompts: 320, Workload: w},
	}
	if diff := cmp.Diff(want, plan.Levels); diff != "" {
		t.Error(diff)
	}
	if plan.Tool != bench.Tool {
		t.Errorf("tool %q", plan.Tool)
	}
}

// TestStartBudget: what the file leaves out has a default, and silence is never
// allowed longer than the whole start.
func TestStartBudget(t *testing.T) {
	for _, c := range []struct {
		ready          string
		timeout, stall time.Duration
	}{
		{"{}", 45 * time.Minute, 15 * time.Minute},
		{"{timeout: 5m}", 5 * time.Minute, 5 * time.Minute},
		{"{timeout: 2h, stall: 90s}", 2 * time.Hour, 90 * time.Second},
	} {
		plan := planOf(t, complete("server: {command: [a], ready: "+c.ready+"}\n"), PlanOptions{})
		if diff := cmp.Diff(ReadyBudget{Timeout: c.timeout, Stall: c.stall}, plan.Ready); diff != "" {
			t.Errorf("%s: %s", c.ready, diff)
		}
	}
}

// TestPlanSurvivesJSON: the frozen plan that a runner reads back is the plan.
func TestPlanSurvivesJSON(t *testing.T) {
	plan := planOf(t, example, PlanOptions{})
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	// Places in the file stay behind: a frozen plan no longer needs it.
	if diff := cmp.Diff(*plan, back, cmpopts.IgnoreTypes(matrix.Pos{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for _, r := range back.Runs {
		if diff := cmp.Diff(r.Argv, back.Configuration(r.Config).Argv(r.Port)); diff != "" {
			t.Errorf("run %d: the recorded command is not that of its configuration: %s", r.Ordinal, diff)
		}
	}
}

// TestOnly: selections on the plan, and a stand-in for a baseline left out.
func TestOnly(t *testing.T) {
	text := complete(`matrix:
  parallel: {tp8: {tp-size: 8}, tp4: {tp-size: 4}}
  page-size: [1, 64]
exclude:
  - {parallel: tp4, page-size: 64}
include:
  - {name: by-hand, at: {parallel: tp8}, set: {page-size: 16}}
`)
	for _, c := range []struct {
		only []string
		want []string
	}{
		{nil, []string{"parallel=tp8,page-size=1", "parallel=tp8,page-size=64", "parallel=tp4,page-size=1", "by-hand"}},
		{[]string{"parallel=tp8,page-size=*"}, []string{"parallel=tp8,page-size=1", "parallel=tp8,page-size=64", "by-hand"}},
		{[]string{"page-size=1"}, []string{"parallel=tp8,page-size=1", "parallel=tp4,page-size=1"}},
		{[]string{"by-hand", "parallel=tp4"}, []string{"parallel=tp4,page-size=1", "by-hand"}},
		{[]string{"page-size=64|1,parallel=tp4|tp8"}, []string{"parallel=tp8,page-size=1", "parallel=tp8,page-size=64", "parallel=tp4,page-size=1"}},
	} {
		plan := planOf(t, text, PlanOptions{Only: c.only})
		var got []string
		baselines := 0
		for _, conf := range plan.Configurations {
			got = append(got, conf.Name)
			if conf.Baseline {
				baselines++
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.only, diff)
		}
		if baselines != 1 {
			t.Errorf("%q: %d baselines", c.only, baselines)
		}
		if len(plan.Dropped) != 1 {
			t.Errorf("%q: %d dropped, judged on the full product it is 1", c.only, len(plan.Dropped))
		}
		if left := c.want[0] != "parallel=tp8,page-size=1"; left != (len(plan.Warnings) == 1) {
			t.Errorf("%q: warnings %q", c.only, plan.Warnings)
		}
	}
	for only, want := range map[string]string{
		"paralllel=tp8":             "case.yaml: --only \"paralllel=tp8\": there is no axis \"paralllel\"\n        did you mean \"parallel\"?",
		"parallel=tp9":              "case.yaml: --only \"parallel=tp9\": \"tp9\" is no value of the axis \"parallel\"\n        did you mean \"tp8\"?",
		"by-hnd":                    "case.yaml: --only \"by-hnd\": no configuration has this name\n        did you mean \"by-hand\"?",
		"x":                         "case.yaml: --only \"x\": no configuration has this name\n        write axis=label (the axes are parallel, page-size), or one of the names by-hand",
		"parallel=tp4,64":           "case.yaml: --only \"parallel=tp4,64\": \"64\" has no =\n        write axis=label,axis=label",
		"parallel=tp4,page-size=64": "case.yaml: --only \"parallel=tp4,page-size=64\" selects nothing: a rule drops the one combination that it names\n        nearest to it: parallel=tp8,page-size=64 or parallel=tp4,page-size=1",
	} {
		spec, err := Decode("case.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewPlan(spec, PlanOptions{Only: []string{only}})
		var bad *FileError
		if !errors.As(err, &bad) {
			t.Errorf("%s: got %v", only, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%s: %s", only, diff)
		}
	}
}
