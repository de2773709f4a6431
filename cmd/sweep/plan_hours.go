package main

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"sweep/internal/sweep"
)

// writePlanHours says how long what is left of the plan takes, and what that
// rests on.
func writePlanHours(out *bufio.Writer, p *sweep.Plan, o planTextOptions) {
	e := p.EstimateLeft(sweep.AssumptionsFor(p), o.Known, o.Missing)
	say := planSayer(out)
	parts := fmt.Sprintf("%s %s, %s %s, stops and rest %s",
		planCount(e.Starts, "start"), planHours(e.Start), planCount(e.Measurements, "level"), planHours(e.Levels), planHours(e.Rest))
	switch {
	case e.There == 0:
		say("Time", fmt.Sprintf("about %s: %s", planHours(e.Total), parts))
	case e.Starts == 0:
		say("Time", fmt.Sprintf("nothing left to measure: all of it, about %s, is there already", planHours(e.There)))
		return
	default:
		say("Time", fmt.Sprintf("about %s left of %s (%s are there already): %s", planHours(e.Total), planHours(e.Total+e.There), planHours(e.There), parts))
	}
	if e.Skipped > 0 {
		say("", fmt.Sprintf("above their cap, runs leave out %s: about %s", planCount(e.Skipped, "level"), planHours(e.Saved)))
	}
	if e.RecordedStarts > 0 || e.Recorded > 0 {
		say("", fmt.Sprintf("from records: %d of %s, %d of %s", e.RecordedStarts, planCount(e.Starts, "start"), e.Recorded, planCount(e.Measurements, "level")))
	}
	if assumed := planAssumed(e); assumed != "" {
		say("", "assumed: "+assumed)
	}
	deadline := p.Night.Deadline
	if o.Deadline != nil {
		deadline = o.Deadline
	}
	if text := planDeadline(deadline, e, o.Now); text != "" {
		say("Deadline", text)
	}
	if p.Night.Cooldown > 0 {
		say("", "rest of "+planDuration(p.Night.Cooldown)+" before each start")
	}
}

// planAssumed states the assumptions that the estimate needed.
func planAssumed(e sweep.Estimate) string {
	var parts []string
	if e.RecordedStarts < e.Starts {
		parts = append(parts, planDuration(e.Assume.Start)+" a start")
	}
	parts = append(parts, planDuration(e.Assume.Stop)+" a stop")
	if e.Recorded < e.Measurements {
		rates := make([]string, len(e.Assume.Output))
		for i, r := range e.Assume.Output {
			rates[i] = fmt.Sprintf("%.0f at c=%d", r.Output, r.Concurrency)
		}
		parts = append(parts, "output tok/s "+strings.Join(rates, ", "), fmt.Sprintf("input tok/s %.0f", e.Assume.Input))
	}
	return strings.Join(parts, "; ")
}

// planDeadline compares the end of a night that begins now with its deadline.
func planDeadline(d *sweep.Deadline, e sweep.Estimate, now time.Time) string {
	if d == nil {
		return ""
	}
	text := d.String()
	if d.Zone == "" {
		text += " in the time zone of the host"
	}
	if now.IsZero() {
		return text
	}
	if d.Zone == "" {
		zone, offset := now.Zone()
		text += fmt.Sprintf(" (here %s, UTC%+03d:%02d)", zone, offset/3600, offset%3600/60)
	}
	at, err := d.After(now, now.Location())
	if err != nil {
		return text + ": " + err.Error()
	}
	end := now.Add(e.Total).In(at.Location())
	spare := at.Sub(end)
	if spare < 0 {
		return fmt.Sprintf("%s: started now it ends about %s, %s too late", text, end.Format("Mon 15:04"), planHours(-spare))
	}
	return fmt.Sprintf("%s: start by %s; started now it ends about %s, %s before it", text,
		at.Add(-e.Total).Format("Mon 15:04"), end.Format("Mon 15:04"), planHours(spare))
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
	for _, text := range items {
		planWrap(out, "  ", "    ", text)
	}
}
