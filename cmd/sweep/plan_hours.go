package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sweep/internal/sweep"
)

// writePlanHours says how long what is left of the plan takes and what that
// rests on, then the verdict: whether it fits the night, and whether it runs.
func writePlanHours(out *bufio.Writer, p *sweep.Plan, o planTextOptions) {
	assume := sweep.AssumptionsFor(p)
	assume.Start = cmp.Or(o.Start, assume.Start)
	e := p.EstimateLeft(assume, o.Known, o.Missing)
	say := planSayer(out)
	if n := o.There.Reused + o.There.Begun; n > 0 {
		say("There", fmt.Sprintf("already on this host: %d of %s whole, %d in part; %s left to measure",
			o.There.Reused, planCount(len(p.Runs), "run"), o.There.Begun, planCount(o.There.Levels, "level")))
	}
	parts := fmt.Sprintf("%s %s, %s %s, stops and rest %s",
		planCount(e.Starts, "start"), planHours(e.Start), planCount(e.Measurements, "level"), planHours(e.Levels), planHours(e.Rest))
	switch {
	case e.There == 0:
		say("Time", fmt.Sprintf("about %s: %s", planHours(e.Total), parts))
	case e.Starts == 0:
		say("Time", fmt.Sprintf("nothing left to measure: all of it, about %s, is there already", planHours(e.There)))
	default:
		say("Time", fmt.Sprintf("about %s left of %s (%s are there already): %s", planHours(e.Total), planHours(e.Total+e.There), planHours(e.There), parts))
	}
	if e.Starts > 0 {
		writePlanAssumed(say, p, e, o)
	}
	for _, line := range planVerdict(p, e, o) {
		say(line[0], line[1])
	}
}

// writePlanAssumed says what an estimate rests on.
func writePlanAssumed(say func(key, text string), p *sweep.Plan, e sweep.Estimate, o planTextOptions) {
	if e.Skipped > 0 {
		say("", fmt.Sprintf("above their cap, runs leave out %s, which saves about %s", planCount(e.Skipped, "level"), planHours(e.Saved)))
	}
	if text := planCuts(p, e); text != "" {
		say("", text)
	}
	if p.Night.Cooldown > 0 {
		say("", "rest of "+planDuration(p.Night.Cooldown)+" before each start")
	}
	if e.RecordedStarts > 0 || e.Recorded > 0 {
		say("", fmt.Sprintf("from records: %d of %s, %d of %s", e.RecordedStarts, planCount(e.Starts, "start"), e.Recorded, planCount(e.Measurements, "level")))
	}
	assumed := planDuration(e.Assume.Stop) + " a stop"
	if e.RecordedStarts < e.Starts {
		start := planDuration(e.Assume.Start) + " a start (--start sets another, the first one recorded replaces it)"
		if o.Start > 0 {
			start = planDuration(e.Assume.Start) + " a start (--start)"
		}
		assumed = start + "; " + assumed
	}
	if e.Recorded < e.Measurements {
		assumed += "; " + planRates(e.Assume.Rates(p.Levels)) + fmt.Sprintf("; input tok/s %.0f", e.Assume.Input)
	}
	say("", "assumed: "+assumed)
}

// planRates are assumed output rates, at the concurrencies that a plan has.
func planRates(rates []sweep.AssumedRate) string {
	parts := make([]string, len(rates))
	for i, r := range rates {
		parts[i] = fmt.Sprintf("%.0f at c=%d", r.Output, r.Concurrency)
	}
	return "output tok/s " + strings.Join(parts, ", ")
}

// planCuts names the levels that max-level is expected to end.
func planCuts(p *sweep.Plan, e sweep.Estimate) string {
	if len(e.Cut) == 0 {
		return ""
	}
	rows := map[string]string{}
	for i, d := range p.Differences() {
		rows[p.Configurations[i].ID] = d.Name
	}
	parts := make([]string, len(e.Cut))
	for i, c := range e.Cut {
		worst := planHours(c.Whole)
		if !c.Alike {
			worst = "up to " + worst + ", in " + rows[c.Config]
		}
		parts[i] = fmt.Sprintf("%s in %s (all would take %s)", c.Level, planCount(c.Runs, "run"), worst)
	}
	return "max-level " + planDuration(p.MaxLevel) + " comes before all prompts are issued at " + strings.Join(parts, ", ") + ": there the steady part counts"
}

// planHours is a duration as a person plans with it.
func planHours(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// writePlanList writes a heading and its items, or nothing.
func writePlanList(out *bufio.Writer, head string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", head)
	for _, text := range slices.Compact(slices.Clone(items)) {
		planWrap(out, "  ", "    ", text)
	}
}
