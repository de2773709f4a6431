package sweep

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/matrix"
	"sweep/internal/sglang"
)

// eachOnItsOwn judges a plan as CheckFlags does, one configuration after the
// other and without remembering anything.
func eachOnItsOwn(p *Plan, fs *sglang.FlagSet, o FlagCheck) FlagReport {
	c := flagChecker{plan: p, fs: fs, options: o, found: map[foundKey]*found{}}
	add := func(i int, problem sglang.FlagProblem, pos matrix.Pos) { c.note(i, []*found{c.of(problem, pos)}) }
	for i := range p.Configurations {
		config := &p.Configurations[i]
		for _, f := range config.Flags {
			for _, problem := range fs.CheckFlag(given(f), o.Strict) {
				add(i, problem, f.Pos)
			}
		}
		command := config.serverWords()
		for _, problem := range fs.CheckFlag(command, o.Strict) {
			add(i, problem, matrix.Pos{})
		}
		settings := config.settings(fs)
		known := sglang.Known{GPUs: o.GPUs, SM: o.SM, KVTokens: o.KVTokens[config.ID], RequestTokens: p.requestTokens()}
		var combined []sglang.FlagProblem
		if config.simulated() {
			known.GPUs, known.SM = 0, 0
		} else if command.Words != nil {
			combined = fs.Missing(settings)
		}
		for _, problem := range append(combined, sglang.Combine(settings, known, fs.Release())...) {
			add(i, problem, c.place(config, problem.Flag))
		}
	}
	return c.report()
}

// pairwise finds inert groups by comparing whole settings.
func pairwise(p *Plan, fs *sglang.FlagSet) []InertGroup {
	groups := map[string][]*Configuration{}
	var order []string
	for i := range p.Configurations {
		c := &p.Configurations[i]
		effective, _ := fs.Effective(c.settings(fs), fs.Release())
		key := c.place() + effective.Key()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], c)
	}
	var found []InertGroup
	for _, key := range order {
		members := groups[key]
		if len(members) == 1 {
			continue
		}
		keep := max(slices.IndexFunc(members, func(c *Configuration) bool { return c.Baseline }), 0)
		g := InertGroup{Keep: members[keep].Name}
		for i, c := range members {
			if i != keep {
				why, _ := fs.Inert(members[keep].settings(fs), c.settings(fs), fs.Release())
				g.Drop = append(g.Drop, Double{ID: c.ID, Name: c.Name, Why: why})
			}
		}
		found = append(found, g)
	}
	return found
}

// manySided is a plan in which settings come from everywhere: switches without
// words at several places, omitted flags that shift the others, aliases, words
// of the command, variables that rules look at, inert axes, an include.
const manySided = `name: many
server:
  command: [python3, -m, sglang.launch_server, --mem-fraction-static, "0.8"]
  env: {CUDA_HOME: /usr/local/cuda, NCCL_DEBUG: WARN}
  flags:
    model-path: lukealonso/GLM-5-NVFP4
    kv-cache-dtype: bf16
    attention-backend: flashinfr
    enable-metrics: true
    page-size: 64
    made-up: 1
matrix:
  parallel:
    tp8: {tp-size: 8}
    tp4-pp2: {tp-size: 4, pp-size: 2}
    tp8-ep3: {tp-size: 8, ep-size: 3}
    one: {tp-size: 1, env: {NCCL_P2P_LEVEL: SYS}}
    one-more: {tp-size: "1 ", env: {NCCL_P2P_LEVEL: PHB}}
  graphs:
    "on": {}
    "off": {disable-cuda-graph: true, cuda-graph-max-bs: 8}
    off-more: {disable-cuda-graph: true, cuda-graph-max-bs: 16}
    off-metrics: {enable-metrics: false, disable-cuda-graph: true}
  devices:
    all: {}
    two: {env: {CUDA_VISIBLE_DEVICES: "0,1"}}
    unset: {env: {CUDA_VISIBLE_DEVICES: null}}
  where:
    stable: {}
    other: {command: [python3, -m, sglang.launch_server, --tp-size, "2", stray]}
    sim: {command: [sweep, sim]}
  chunked-prefill-size: [64, 100, 8k]
include:
  - {name: by-hand, at: {parallel: tp8, graphs: "on", devices: all, where: stable}, set: {chunked-prefill-size: 100, mem-frac: "0.9", speculative-algorithm: EAGLE, env: {CUDA_VISIBLE_DEVICES: "3"}}}
bench: {workloads: {w: {input-len: 256, output-len: 128}}, levels: [{concurrency: [1, 64]}]}
`

// manyReasons is a plan in which one flag does nothing for two reasons.
const manyReasons = `name: reasons
server: {command: [python3, -m, sglang.launch_server], flags: {model-path: a/b, tp-size: 8}}
matrix:
  backend:
    other: {moe-runner-backend: triton}
    "off": {moe-runner-backend: flashinfer_trtllm, disable-flashinfer-autotune: true}
  flashinfer-autotune-skip-ops: [a, b]
bench: {workloads: {w: {input-len: 256, output-len: 128}}, levels: [{concurrency: 1}]}
`

// TestCheckedOnceIsCheckedEach: judging what is the same only once finds what
// judging each configuration finds.
func TestCheckedOnceIsCheckedEach(t *testing.T) {
	for name, text := range map[string]string{"many": manySided, "reasons": manyReasons, "glm5": sweepFile(t, "glm5-overnight.yaml"), "demo": sweepFile(t, "demo.yaml")} {
		plan := planOf(t, text, PlanOptions{MaxConfigs: 1000})
		pool := map[string]int{}
		for i, c := range plan.Configurations {
			if i%3 == 0 {
				pool[c.ID] = 1000 * (1 + i%7)
			}
		}
		for _, version := range []string{"0.5.9", "0.5.10.post1", "0.5.17", ""} {
			fs, _ := sglang.Flags(version)
			for _, o := range []FlagCheck{{}, {GPUs: 8, SM: 120}, {GPUs: 4, KVTokens: pool, Strict: true}} {
				want := eachOnItsOwn(plan, fs, o)
				if diff := cmp.Diff(want, CheckFlags(plan, fs, o)); diff != "" {
					t.Errorf("%s, %q, %+v: (-each +once)\n%s", name, version, o, diff)
				}
				if name == "many" && (len(want.Errors) < 3 || len(want.Warnings) < 3) {
					t.Errorf("%q: only %d errors and %d warnings are compared", version, len(want.Errors), len(want.Warnings))
				}
			}
			groups := pairwise(plan, fs)
			if diff := cmp.Diff(groups, InertGroups(plan, fs)); diff != "" {
				t.Errorf("%s, %q: (-each +once)\n%s", name, version, diff)
			}
			if name == "many" && len(groups) < 5 {
				t.Errorf("%q: only %d groups are compared", version, len(groups))
			}
		}
	}
}
