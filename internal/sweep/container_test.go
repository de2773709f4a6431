package sweep

import (
	"strings"
	"testing"
)

// TestIDCoversTheContainer: all of a container is in the ID, each part for
// itself, and the order of its keys is not.
func TestIDCoversTheContainer(t *testing.T) {
	seen := map[string]string{}
	for _, container := range []string{
		"{runtime: incus, image: a}",
		"{runtime: docker, image: a}",
		"{runtime: incus, copy-of: a}",
		"{runtime: incus, instance: a}",
		"{runtime: incus, image: a, config: {x: y}}",
		"{runtime: incus, image: a, config: {x: z}}",
		"{runtime: incus, image: a, config: {x: y, a: b}}",
		"{runtime: incus, image: a, devices: {x: {y: z}}}",
		"{runtime: incus, image: a, devices: {x: {y: q}}}",
		"{runtime: incus, image: a, devices: {x: {}, y: {z: q}}}",
		"{runtime: incus, image: a, devices: {d: {}}, config: {x: y}}",
	} {
		plan := planOf(t, complete("container: "+container+"\n"), PlanOptions{})
		id := plan.Configurations[0].ID
		if other := seen[id]; other != "" {
			t.Errorf("%s and %s have one ID", container, other)
		}
		seen[id] = container
	}
	a := planOf(t, complete("container: {runtime: incus, image: a, config: {x: y, a: b}, devices: {p: {q: r}, s: {t: u, v: w}}}\n"), PlanOptions{})
	b := planOf(t, complete("container: {devices: {s: {v: w, t: u}, p: {q: r}}, config: {a: b, x: y}, image: a, runtime: incus}\n"), PlanOptions{})
	if a.Configurations[0].ID != b.Configurations[0].ID || a.Hash != b.Hash {
		t.Error("the order of keys makes another ID")
	}
}

// TestPlanAcceptsWhatRunCannot: planning takes the whole language, and what
// this build cannot carry out is said in one sentence each.
func TestPlanAcceptsWhatRunCannot(t *testing.T) {
	reasons := planOf(t, complete(`bench:
  tool: bench_serving
  workloads: {ids: {input-len: 128, output-len: 128}, prose: {text: prompts.jsonl, output-len: 128}}
  levels: [{concurrency: 8, workload: prose}, {rate: 2.5, prompts: 300, workload: ids}]
`), PlanOptions{}).Unsupported()
	if len(reasons) != 2 {
		t.Errorf("%d reasons, want 2", len(reasons))
	}
	for _, r := range reasons {
		if !strings.HasSuffix(r, ".") || strings.ContainsFunc(r, func(r rune) bool { return r < ' ' }) || len(r) > 160 {
			t.Errorf("reason %q", r)
		}
	}
	if reasons := planOf(t, sweepFile(t, "demo.yaml"), PlanOptions{}).Unsupported(); reasons != nil {
		t.Errorf("the demo cannot be run: %q", reasons)
	}
}

// TestLevelsOf: what a run measures is what its plan says, less what it skips.
func TestLevelsOf(t *testing.T) {
	plan := planOf(t, complete(`matrix: {max-running-requests: [4, 64]}
bench:
  workloads: {w: {input-len: 1, output-len: 1}}
  levels: [{concurrency: [1, 8, 16]}, {burst: [8, 32]}]
`), PlanOptions{})
	for i, want := range []string{"c=1 c=8 burst=8", "c=1 c=8 c=16 burst=8 burst=32"} {
		if got := strings.Join(levelNames(plan.LevelsOf(plan.Runs[i])), " "); got != want {
			t.Errorf("run %d measures %s, want %s", i+1, got, want)
		}
	}
}
