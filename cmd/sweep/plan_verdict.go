package main

import (
	"fmt"
	"strings"
	"time"

	"sweep/internal/sweep"
)

// planVerdict is what a person decides by: when it ends, what of it fits the
// night, and whether it can be run at all.
func planVerdict(p *sweep.Plan, e sweep.Estimate, o planTextOptions) [][2]string {
	var lines [][2]string
	deadline := p.Night.Deadline
	if o.Deadline != nil {
		deadline = o.Deadline
	}
	if text, fits := planDeadline(deadline, e, o.Now); text != "" {
		lines = append(lines, [2]string{"Deadline", text})
		switch {
		case !fits:
			lines = append(lines, [2]string{"TOO LONG", planShorter(p, e, deadline, o.Now)}, [2]string{"", planAtDeadline(p, deadline)})
		case !o.Now.IsZero() && e.Starts > 0:
			lines = append(lines, [2]string{"", planReserve(e, deadline, o.Now) + planAtDeadline(p, deadline)})
		}
	}
	if deadline == nil && !o.Now.IsZero() && e.Starts > 0 {
		lines = append(lines, [2]string{"End", "started now it ends about " + o.Now.Add(e.Total).Format(clockZone) + planRepeats(p, e, o.Now, p.Repeats-1)})
	}
	switch missing := p.Unsupported(); {
	case len(missing) > 0:
		lines = append(lines, [2]string{"Refused", "`sweep run` of this version refuses this plan; why stands above"})
	case planWarned(p) > 0:
		lines = append(lines, [2]string{"Ready", "but with " + planCount(planWarned(p), "warning") + " above; the host was not looked at: `sweep check " + p.File + "`"})
	default:
		lines = append(lines, [2]string{"Ready", "the file can be run; the host was not looked at: `sweep check " + p.File + "`"})
	}
	return lines
}

// clockZone is how a time of day is written: never without its zone, since the
// deadline's need not be the host's.
const clockZone = "Mon 15:04 MST"

// planClock writes a time in the deadline's zone, and in the host's where that
// is another.
func planClock(t time.Time, zone, host *time.Location) string {
	text := t.In(zone).Format(clockZone)
	if _, there := t.In(zone).Zone(); there != zoneOffset(t, host) {
		text += " (" + t.In(host).Format("15:04 MST") + ")"
	}
	return text
}

func zoneOffset(t time.Time, zone *time.Location) int {
	_, offset := t.In(zone).Zone()
	return offset
}

// planWarned counts the warnings of a plan; notes only explain.
func planWarned(p *sweep.Plan) int {
	n := 0
	for _, w := range p.Warnings {
		if !strings.HasPrefix(w, notePrefix) {
			n++
		}
	}
	return n
}

// planReserve says what a night that fits rests on: how long a start may take
// for it still to fit, where that is assumed.
func planReserve(e sweep.Estimate, d *sweep.Deadline, now time.Time) string {
	at, err := d.After(now, now.Location())
	if err != nil || e.RecordedStarts > 0 {
		return ""
	}
	most := e.Assume.Start + at.Sub(now.Add(e.Total))/time.Duration(e.Starts)
	return fmt.Sprintf("it fits as long as a start takes at most %s; ", planHours(most.Truncate(time.Minute)))
}

// planAtDeadline says what becomes of a night that is longer than its deadline.
func planAtDeadline(p *sweep.Plan, d *sweep.Deadline) string {
	if p.Night.Deadline == nil {
		return "nothing ends it then: the file has no `night: {deadline: …}`"
	}
	return fmt.Sprintf("at %02d:%02d the level in flight is finished, no start is begun that cannot be ready by then, the rest is listed, and the same command goes on another night", d.Hour, d.Minute)
}

// planRepeats says when the repeats up to one are complete.
func planRepeats(p *sweep.Plan, e sweep.Estimate, now time.Time, last int) string {
	text := ""
	for repeat := 1; repeat <= min(last, shownRepeats); repeat++ {
		text += fmt.Sprintf("; repeat %d is complete about %s", repeat, now.Add(e.Through(p, repeat)).Format(clockZone))
	}
	return text
}

// shownRepeats bounds the repeats whose ends are said.
const shownRepeats = 3

// planShorter says what of a plan that is too long would fit.
func planShorter(p *sweep.Plan, e sweep.Estimate, d *sweep.Deadline, now time.Time) string {
	at, err := d.After(now, now.Location())
	if err != nil {
		return err.Error()
	}
	end := func(repeat int) string {
		return planClock(now.Add(e.Through(p, repeat)), at.Location(), now.Location())
	}
	whole := "repeat 1 is complete about " + end(1)
	for repeat := p.Repeats - 1; repeat > 0; repeat-- {
		if !now.Add(e.Through(p, repeat)).After(at) {
			text := fmt.Sprintf("`repeats: %d` fits: it ends about %s; of the file as it is the first %s of %d fit", repeat, end(repeat), planCount(planFit(p, e, at, now), "run"), len(p.Runs))
			if repeat > 1 {
				text += "; " + whole
			}
			return text
		}
	}
	text := "not even one repeat fits"
	if p.Repeats > 1 {
		text += ": " + whole
	}
	text += fmt.Sprintf("; the first %s fit; --only takes some", planCount(planFit(p, e, at, now), "run"))
	if once := (e.Start + e.Rest) / time.Duration(max(1, p.Repeats)); !now.Add(once).After(at) { // else starts alone take too long
		text += ", max-level shortens levels"
	}
	return text
}

// planFit counts the runs that are over by a time.
func planFit(p *sweep.Plan, e sweep.Estimate, at, now time.Time) int {
	fit := 0
	for sum := time.Duration(0); fit < len(p.Runs); fit++ {
		if sum += e.Runs[fit]; now.Add(sum).After(at) {
			break
		}
	}
	return fit
}

// planDeadline compares the end of a night that begins now with its deadline;
// fits is false only where it surely comes too late.
func planDeadline(d *sweep.Deadline, e sweep.Estimate, now time.Time) (text string, fits bool) {
	if d == nil {
		return "", true
	}
	text = d.String()
	if d.Zone == "" {
		text += " in the time zone of the host"
	}
	if now.IsZero() {
		return text, true
	}
	if d.Zone == "" {
		zone, offset := now.Zone()
		text += fmt.Sprintf(" (here %s, UTC%+03d:%02d)", zone, offset/3600, offset%3600/60)
	}
	at, err := d.After(now, now.Location())
	if err != nil {
		return text + ": " + err.Error(), true
	}
	end := now.Add(e.Total).In(at.Location())
	spare := at.Sub(end)
	if spare < 0 {
		return fmt.Sprintf("%s: started now it ends about %s, %s too late", text, planClock(end, at.Location(), now.Location()), planHours(-spare)), false
	}
	return fmt.Sprintf("%s: start by %s; started now it ends about %s, %s before it", text,
		planClock(at.Add(-e.Total), at.Location(), now.Location()), planClock(end, at.Location(), now.Location()), planHours(spare)), true
}
