package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sweep/internal/sweep"
)

// lastLines writes a plan and returns it as one line, from its last blank line on.
func lastLines(t *testing.T, plan *sweep.Plan, o planTextOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := writePlan(&out, plan, o); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	return strings.Join(strings.Fields(text[strings.LastIndex(text, "\n\n"):]), " ")
}

// hoursPlan is six starts of 8 min in three repeats, with one level that
// max-level cuts.
func hoursPlan(t *testing.T, night string) *sweep.Plan {
	return examplePlan(t, `name: hours
server: {command: [/opt/python3, -m, sglang.launch_server], flags: {model-path: a/b}}
matrix: {tp-size: [8, 4]}
bench:
  workloads: {exact: {input-len: 128, output-len: 128, range-ratio: 1}}
  levels: [{concurrency: 1, prompts: 1}, {concurrency: 2048}]
  max-level: 5m
repeats: 3
`+night)
}

// TestPlanEndsWithItsVerdict: whether a plan fits the night, what of it would,
// and whether it runs, are its last lines.
func TestPlanEndsWithItsVerdict(t *testing.T) {
	now := time.Date(2026, 12, 1, 21, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		deadline sweep.Deadline
		want     string
	}{
		"fits": {sweep.Deadline{Hour: 7, Zone: "UTC"}, `start by Wed 05:\d\d UTC; started now it ends about Tue 23:\d\d UTC, 7 h \d\d min before it it fits as long as a start takes at most 1 h \d\d min; nothing ends it then: .* Ready`},
		"two repeats": {sweep.Deadline{Hour: 22, Minute: 50, Zone: "UTC"},
			"started now it ends about Tue 23:\\d\\d UTC, \\d+ min too late TOO LONG `repeats: 2` fits: it ends about Tue 22:\\d\\d UTC; of the file as it is the first 4 runs of 6 fit; repeat 1 is complete about Tue 22:\\d\\d UTC nothing ends it then: the file has no `night: .deadline: ….` Ready"},
		"one run": {sweep.Deadline{Hour: 21, Minute: 55, Zone: "UTC"}, "TOO LONG not even one repeat fits: repeat 1 is complete about Tue 2\\d:\\d\\d UTC; the first 1 run fit; --only takes some"},
	} {
		got := lastLines(t, hoursPlan(t, ""), planTextOptions{Now: now, Deadline: &c.deadline})
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := lastLines(t, hoursPlan(t, ""), planTextOptions{Now: now}); !regexp.MustCompile("End started now it ends about Tue 23:.*; repeat 1 is complete about .*; repeat 2 is complete about .* Ready the file can be run; the host was not looked at: `sweep check sweeps/example.yaml`$").MatchString(got) {
		t.Errorf("no deadline: %s", got)
	}
	early := time.Date(2026, 12, 1, 7, 30, 0, 0, time.UTC)
	if got := lastLines(t, hoursPlan(t, "night: {deadline: \"08:00 UTC\"}\n"), planTextOptions{Now: early}); !strings.Contains(got, "at 08:00 the level in flight is finished, no start is begun that cannot be ready by then, the rest is listed, and the same command goes on another night Ready") {
		t.Errorf("too long: %s", got)
	}
	if got := lastLines(t, hoursPlan(t, "host: elsewhere-that-is-none\nhooks: {before-run: [x]}\nnight: {cooldown: 60s}\n"), planTextOptions{}); !strings.Contains(got, "rest of 1m before each start") {
		t.Errorf("cool-down: %s", got)
	}
}

// TestPlanTimesHaveTheirZone: the deadline's zone and the host's differ, and a
// person has the host's clock before them.
func TestPlanTimesHaveTheirZone(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	got := lastLines(t, hoursPlan(t, "night: {deadline: \"08:00 Europe/Prague\"}\n"), planTextOptions{Now: now})
	if !regexp.MustCompile(`start by Wed 06:0\d CET \(05:0\d UTC\); started now it ends about Tue 14:5\d CET \(13:5\d UTC\)`).MatchString(got) {
		t.Error(got)
	}
}

// TestPlanCountsItsWarnings: what is run is what the file says, also where that
// was not meant.
func TestPlanCountsItsWarnings(t *testing.T) {
	plan := hoursPlan(t, "")
	plan.Warnings = append(plan.Warnings, "there is no flag tp-sise", notePrefix+" that only explains")
	if got := lastLines(t, plan, planTextOptions{}); !strings.Contains(got, "Ready but with 1 warning above; the host") {
		t.Error(got)
	}
}

// TestPlanSaysWhatItAssumes: the rates at the concurrencies of the file, a start
// and how to replace it, and which levels will be cut.
func TestPlanSaysWhatItAssumes(t *testing.T) {
	plan := hoursPlan(t, "")
	got := lastLines(t, plan, planTextOptions{})
	for _, want := range []string{"assumed: 8m a start (--start sets another, the first one recorded replaces it); 30s a stop; output tok/s 10 at c=1, 1639 at c=2048; input tok/s 4000",
		"max-level 5m comes before all prompts are issued at c=2048 in 6 runs (all would take 19 min): there the steady part counts", "6 starts 48 min"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	got = lastLines(t, plan, planTextOptions{Start: 20 * time.Minute})
	if !strings.Contains(got, "assumed: 20m a start (--start); 30s a stop") || !strings.Contains(got, "6 starts 2 h 00 min") {
		t.Error(got)
	}
}

// TestPlanOfTheOvernightSweep: the rows are changes, no line of them is needed
// twice, and the sum of the configurations is said.
func TestPlanOfTheOvernightSweep(t *testing.T) {
	text, err := os.ReadFile("../../sweeps/glm5-overnight.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan := examplePlan(t, string(text))
	var out bytes.Buffer
	if err := writePlan(&out, plan, planTextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"30000 baseline\n", " p2p=phb\n", " moe=cutlass\n", "10 of the 288 combinations (278 dropped) + 4 by hand\n",
		"    # One change at a time: what one axis does alone is known by this in nine\n    # starts of a pass.\n    when: (axis.parallel != \"tp8\" ? 1 : 0) …\n", "278 combinations dropped; --all lists them\n", "card-recipe = baseline + autotune=on,\n"} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%q not once in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "moe=fi-cutlass"); n != 1 {
		t.Errorf("the full name of the baseline %d times", n)
	}
	if n := strings.Count(out.String(), "\n"); n > 75 {
		t.Errorf("%d lines", n)
	}
	out.Reset()
	if err := writePlan(&out, plan, planTextOptions{All: true, Only: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n    parallel="); n != 278 || strings.Contains(out.String(), "288") {
		t.Errorf("%s", fmt.Sprint(n, " dropped combinations listed"))
	}
}
