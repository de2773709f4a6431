package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sweep"
)

var updatePlan = flag.Bool("update", false, "rewrite testdata/plan-*.txt")

const planExample = `name: example
description: "TP8 against TP4+PP2 with a description that is longer than one line of a console, \e[31mand red"
host: rtx6k
server:
  command: [/opt/venv/bin/python3, -m, sglang.launch_server]
  env: {CUDA_HOME: /usr/local/cuda, WORDS: it's "two words"}
  flags:
    model: lukealonso/GLM-5-NVFP4
    model-loader-extra-config: {enable_multithread_load: true, num_threads: 16}
    chat-template: "a\nb \e[31m"
matrix:
  parallel:
    tp8:     {tp-size: 8}
    tp4-pp2: {tp-size: 4, pp-size: 2}
  max-running-requests: [64, 1024]
  cuda-graph-and-a-very-long-name-of-an-axis:
    "off-with-a-long-label-too": {disable-cuda-graph: true}
    bs256: {cuda-graph-max-bs: 256, env: {NCCL_P2P_LEVEL: null}}
exclude:
  - {parallel: tp4-pp2, cuda-graph-and-a-very-long-name-of-an-axis: bs256}
  - {parallel: tp4-pp2, max-running-requests: 64}
  - {parallel: tp4-pp2, max-running-requests: 64}
include:
  - {name: card-recipe, at: {parallel: tp8, cuda-graph-and-a-very-long-name-of-an-axis: bs256}, set: {max-running-requests: 8}}
baseline: {parallel: tp8, max-running-requests: 1024, cuda-graph-and-a-very-long-name-of-an-axis: bs256}
bench:
  workloads:
    short: {input-len: 256, output-len: 128}
    exact: {input-len: 128, output-len: 128, range-ratio: 1, seed: 7}
  levels:
    - {burst: 256, workload: short}
    - {concurrency: [1, 2048], workload: exact}
    - {concurrency: 64, prompts: 1, workload: exact}
  max-level: 1h30m
  slo: {ttft: 10s, tpot: 150ms}
repeats: 2
`

// planEverything uses what a plan can show beyond planExample.
const planEverything = `name: everything
container: {runtime: incus, instance: glm5}
server:
  command: [/opt/venv/bin/python3, -m, sglang.launch_server]
  env-file: /etc/sglang.env
  secrets: [HF_TOKEN]
  flags: {model-path: lukealonso/GLM-5-NVFP4}
matrix:
  cap: {"64": {max-running-requests: 64}, "2048": {max-running-requests: 2048}}
  where: {kept: {}, fresh: {image: "images:debian/13"}}
exclude:
  - when: |
      flags["max-running-requests"] > 1024
        && axis.where == "fresh"
bench:
  workloads:
    short: {input-len: 256, output-len: 128}
    chat: {text: prompts/chat.jsonl, output-len: 512}
  levels:
    - {concurrency: [1, 256, 1024, 2048], workload: short}
    - {rate: 2.5, prompts: 300, workload: short}
    - {burst: 8, workload: chat}
  max-level: 5m
goals:
  - {metric: per_stream, at: {concurrency: 1}, min: 100}
  - {metric: ttft_p99, at: {burst: 8, workload: chat}, max: 2.5s}
  - {metric: goodput_share, min: 0.95}
night: {deadline: "07:00 Europe/Prague", cooldown: 60s}
hooks: {before-run: [/root/set-power-limit, "450"], after-night: [sh, -c, "echo done"]}
repeats: 4
`

func examplePlan(t testing.TB, text string) *sweep.Plan {
	t.Helper()
	spec, err := sweep.Decode("sweeps/example.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(spec, sweep.PlanOptions{MaxConfigs: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPlanText holds the text of a plan, with and without commands; no line but
// a command is wider than a console, and nothing in it can act on a terminal.
func TestPlanText(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		options planTextOptions
	}{
		"plan":            {planExample, planTextOptions{}},
		"plan-commands":   {planExample, planTextOptions{Commands: true}},
		"plan-smallest":   {"name: smallest\nserver: {command: [sweep, sim]}\nbench: {workloads: {w: {input-len: 1, output-len: 1}}, levels: [{concurrency: 1, prompts: 1}]}\n", planTextOptions{}},
		"plan-everything": {planEverything, planTextOptions{Known: map[string]sweep.Times{}, Now: time.Date(2026, 12, 1, 21, 30, 0, 0, time.UTC)}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := writePlan(&out, examplePlan(t, c.text), c.options); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > 80 && !strings.Contains(line, " --host ") {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) || strings.TrimRight(line, " ") != line {
					t.Errorf("control character or space at the end: %q", line)
				}
			}
			path := "testdata/" + name + ".txt"
			if *updatePlan {
				if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestPlanTextTellsWriteErrors(t *testing.T) {
	if err := writePlan(brokenPipe{}, examplePlan(t, planExample), planTextOptions{}); err == nil {
		t.Error("no error")
	}
}

// TestPlanTextOfMany: a large plan is written as fast as it is read.
func TestPlanTextOfMany(t *testing.T) {
	values := strings.Repeat("%, ", 9) + "%"
	n := 0
	axis := func(name string) string {
		line := "  " + name + ": ["
		for _, part := range strings.SplitAfter(values, "%") {
			line += strings.ReplaceAll(part, "%", "v"+strings.Repeat("x", n%7)+string(rune('a'+n%26)))
			n++
		}
		return line + "]\n"
	}
	text := "name: large\nserver: {command: [sweep, sim]}\nmatrix:\n" + axis("a") + axis("b") + axis("c") + axis("d") +
		"bench: {workloads: {w: {input-len: 1, output-len: 1}}, levels: [{concurrency: 1}]}\n"
	plan := examplePlan(t, text)
	var out bytes.Buffer
	start := time.Now()
	if err := writePlan(&out, plan, planTextOptions{Commands: true}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines < 2*len(plan.Runs) {
		t.Errorf("%d lines for %d runs with commands", lines, len(plan.Runs))
	}
}
