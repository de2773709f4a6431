package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sweep/internal/bench"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

// planTextOptions say what a written plan shows.
type planTextOptions struct {
	Commands bool                   // also the exact command of each run, ready to paste
	All      bool                   // every repeat and every dropped combination
	Only     bool                   // the plan is a selection: what it leaves out is not counted
	There    runner.Preview         // how much of it is on disk
	Start    time.Duration          // of a server, instead of the assumption; 0: the assumption
	Known    map[string]sweep.Times // what was recorded, by configuration ID; nil: nothing
	Missing  [][]string             // what is left to measure, see sweep.Plan.EstimateLeft; nil: everything
	Deadline *sweep.Deadline        // to compare with instead of the plan's own; nil: the plan's own
	Now      time.Time              // when the night would start; zero: its end is not compared with a deadline
}

// planHead is the column where the values of the head begin.
const planHead = 11

// planColumn is the column where names begin in the list of runs.
const planColumn = 33

// writePlan writes a plan for a person: what it is, the ladder, the runs in
// order, what was dropped and why, what to look at twice; and at the end, where
// the eye is, how long it takes, whether that fits the night, and whether it can
// be run.
func writePlan(w io.Writer, p *sweep.Plan, o planTextOptions) error {
	out := bufio.NewWriter(w)
	byID := make(map[string]*sweep.Configuration, len(p.Configurations))
	for i := range p.Configurations {
		byID[p.Configurations[i].ID] = &p.Configurations[i]
	}
	writePlanHead(out, p, o)
	writePlanRuns(out, p, byID, o)
	writePlanDropped(out, p, o)
	warnings, notes := splitNotes(p.Warnings)
	writePlanList(out, "Notes", notes)
	if len(warnings) > 0 {
		writePlanList(out, planCount(len(warnings), "warning"), warnings)
	}
	writePlanList(out, "`sweep run` of this version refuses this plan", p.Unsupported())
	fmt.Fprintln(out)
	writePlanHours(out, p, o)
	return out.Flush()
}

// notePrefix begins what is said beside a plan without asking for anything to
// be mended.
const notePrefix = "note: "

// splitNotes takes the notes out of a plan's warnings.
func splitNotes(all []string) (warnings, notes []string) {
	for _, text := range all {
		if note, ok := strings.CutPrefix(text, notePrefix); ok {
			notes = append(notes, note)
		} else {
			warnings = append(warnings, text)
		}
	}
	return warnings, notes
}

func writePlanHead(out *bufio.Writer, p *sweep.Plan, o planTextOptions) {
	say := planSayer(out)
	say("Sweep", p.Name)
	if p.Description != "" {
		say("", p.Description)
	}
	host := p.Host
	if host == "local" {
		host = "this machine"
	}
	if len(p.Configurations) > 0 {
		host += ", " + planContainers(p.Configurations)
	}
	say("Host", host)
	say("Runs", fmt.Sprintf("%s × %s = %s", planCount(len(p.Configurations), "configuration"), planCount(p.Repeats, "repeat"), planCount(len(p.Runs), "run")))
	if text := planSum(p); text != "" && !o.Only {
		say("", text)
	}
	for _, c := range p.Configurations {
		if c.Baseline {
			name := c.Name
			if p.Repeats > 1 {
				name += " (first in each repeat)"
			}
			say("Baseline", name)
			break
		}
	}
	for i, l := range p.Levels {
		key := ""
		if i == 0 {
			key = "Levels"
		}
		head, text := planLevel(l)
		planWrap(out, fmt.Sprintf("%-*s%-32s ", planHead, key, head), strings.Repeat(" ", planHead+33), text)
	}
	say("Limits", strings.Join(planLimits(p), "; "))
	for i, g := range p.Goals {
		key := ""
		if i == 0 {
			key = "Goals"
		}
		say(key, planGoal(g))
	}
	if len(p.Secrets) > 0 {
		say("Secrets", strings.Join(p.Secrets, ", ")+" (taken from your environment when it runs)")
	}
	for _, h := range []struct {
		when string
		argv []string
	}{{"before the night", p.Hooks.BeforeNight}, {"before each run", p.Hooks.BeforeRun}, {"after each run", p.Hooks.AfterRun}, {"after the night", p.Hooks.AfterNight}} {
		if h.argv != nil {
			say("Hook", h.when+": "+sweep.Configuration{}.Shell(h.argv))
		}
	}
}

// planSum says how the configurations come about, where that is more than a
// product.
func planSum(p *sweep.Plan) string {
	byHand := 0
	for i := range p.Configurations {
		if p.Configurations[i].ByHand() {
			byHand++
		}
	}
	kept := len(p.Configurations) - byHand
	text := ""
	switch all := kept + len(p.Dropped); {
	case len(p.Dropped) > 0:
		text = fmt.Sprintf("%d of the %d combinations (%d dropped)", kept, all, len(p.Dropped))
	case byHand > 0:
		text = fmt.Sprintf("all %s", planCount(all, "combination"))
	}
	if byHand > 0 {
		text += fmt.Sprintf(" + %d by hand", byHand)
	}
	return text
}

// planSayer writes the lines of the head: a key, and its text wrapped beside it.
func planSayer(out *bufio.Writer) func(key, text string) {
	return func(key, text string) {
		planWrap(out, fmt.Sprintf("%-*s", planHead, key), strings.Repeat(" ", planHead), text)
	}
}

// planContainers says where servers live.
func planContainers(all []sweep.Configuration) string {
	var origins []string
	for _, c := range all {
		origin := c.Container.Instance
		switch {
		case c.Container.Image != "":
			origin = "a fresh container from " + c.Container.Image
		case c.Container.CopyOf != "":
			origin = "a fresh copy of " + c.Container.CopyOf
		case origin != "":
			origin = "instance " + origin
		}
		if origin != "" && !slices.Contains(origins, origin) && len(origins) < 8 {
			origins = append(origins, origin)
		}
	}
	text := "runtime " + all[0].Container.Runtime
	if len(origins) > 0 {
		text += ", " + strings.Join(origins, " or ")
	}
	return text
}

// planGoal is one goal in words.
func planGoal(g sweep.Goal) string {
	text := g.Metric
	unit := ""
	if strings.Contains(g.Metric, "ttft") || strings.Contains(g.Metric, "tpot") || strings.Contains(g.Metric, "itl") || strings.Contains(g.Metric, "e2e") {
		unit = " ms"
	}
	if g.Min != nil {
		text += fmt.Sprintf(" ≥ %v%s", *g.Min, unit)
	}
	if g.Max != nil {
		text += fmt.Sprintf(" ≤ %v%s", *g.Max, unit)
	}
	var at []string
	if g.At.Concurrency > 0 {
		at = append(at, fmt.Sprintf("concurrency %d", g.At.Concurrency))
	}
	if g.At.Burst > 0 {
		at = append(at, fmt.Sprintf("a burst of %d", g.At.Burst))
	}
	if g.At.Rate > 0 {
		at = append(at, fmt.Sprintf("%v requests a second", g.At.Rate))
	}
	if g.At.Workload != "" {
		at = append(at, "workload "+g.At.Workload)
	}
	if len(at) == 0 {
		return text + " at every level"
	}
	return text + " at " + strings.Join(at, ", ")
}

// planLevel is one load point in words. Lengths are spelled out: "256 tokens"
// of a uniform draw are 128 on average. It is the load, and what is sent.
func planLevel(l bench.Level) (load, what string) {
	load = fmt.Sprintf("concurrency %d, %s", l.Concurrency, planCount(l.Prompts, "prompt"))
	switch l.Mode {
	case bench.Burst:
		load = fmt.Sprintf("burst of %d", l.Concurrency)
	case bench.Open:
		load = fmt.Sprintf("%v requests a second, %s", l.Rate, planCount(l.Prompts, "prompt"))
	}
	w := l.Workload
	if w.Text != "" {
		return load, fmt.Sprintf("%s: texts of %s, up to %d out", w.Name, w.Text, w.OutputLen)
	}
	return load, fmt.Sprintf("%s: %s in, %s out, seed %d", w.Name,
		planLength(w.InputLen, w.RangeRatio), planLength(w.OutputLen, w.RangeRatio), w.Seed)
}

// planLength follows the draw of bench_serving: uniform whole numbers from
// max(int(L·ratio), 1) to L.
func planLength(most int, ratio float64) string {
	least := max(int(float64(most)*ratio), 1)
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d..%d", least, most)
}

func planLimits(p *sweep.Plan) []string {
	limits := []string{fmt.Sprintf("start within %s, log silent for at most %s", planDuration(p.Ready.Timeout), planDuration(p.Ready.Stall))}
	if p.MaxLevel > 0 {
		limits = append(limits, "a level stops issuing after "+planDuration(p.MaxLevel))
	} else {
		limits = append(limits, "no time limit on a level")
	}
	var slo []string
	for _, s := range []struct {
		name  string
		limit time.Duration
	}{{"TTFT", p.SLO.TTFT}, {"TPOT", p.SLO.TPOT}, {"E2E", p.SLO.E2E}} {
		if s.limit > 0 {
			slo = append(slo, s.name+" ≤ "+planDuration(s.limit))
		}
	}
	if len(slo) > 0 {
		limits = append(limits, "goodput counts "+strings.Join(slo, ", "))
	}
	return limits
}

func planCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// planDuration drops the zero parts that time.Duration prints: 45m, not 45m0s.
func planDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
