package main

import (
	"fmt"
	"strings"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/store"
)

// clock follows a night through its events: what runs now, how far it is, how
// long it will take.
type clock struct {
	total   int // runs
	done    int // runs measured, reused, failed or skipped
	timed   int // runs measured whole, from start to end
	spent   time.Duration
	started time.Time // of the run under way
	partly  bool      // some of it was there, so that its time says nothing of others
	name    string
	ordinal int
	now     string // phase or level

	expected expected
	foreseen time.Duration // what was expected of the runs in timed
}

func (c *clock) event(e store.Event) {
	switch e.Type {
	case store.NightStart, store.NightResume:
		c.total = e.Runs
	case store.RunReused, store.RunSkipped:
		c.done++
	case store.RunStart:
		c.started, c.name, c.ordinal, c.now, c.partly = e.At, e.Name, e.Ordinal, "starting", false
	case store.LevelReused:
		c.partly = true
	case store.PhaseStart:
		c.now = phaseText(e)
	case store.Ready:
		c.now = "ready"
		c.partly = c.partly || e.Text != "" // its server was up already
	case store.LevelStart:
		c.now = e.Level + " warming up"
	case store.LevelProgress:
		c.now = fmt.Sprintf("%s %d/%d", e.Level, e.Done, e.Total)
	case store.LevelEnd:
		c.now = e.Level + " done"
	case store.AttemptFailed:
		c.now = "failed"
	case store.RunEnd:
		c.done++
		c.name = ""
		if c.partly {
			break
		}
		c.timed++
		c.spent += e.At.Sub(c.started)
		c.foreseen += c.expected.of(c.ordinal)
	case store.NightEnd, store.Stopping:
		if e.Phase != store.StopAsked {
			c.name, c.total = "", 0
		}
	}
}

// status is the line under the log, "" when nothing runs.
func (c *clock) status(now time.Time) string {
	if c.total == 0 || c.name == "" {
		return ""
	}
	return fmt.Sprintf("[%d/%d] %s · %s · %s", c.ordinal, c.total, c.now, c.left(now), printable(c.name))
}

// sentence says an event as one line of a log; "" for what only the status
// line shows. since is the time from the last line: a long silence is broken
// by progress.
func sentence(e store.Event, since time.Duration) string {
	at := fmt.Sprintf("[%d/%d] ", e.Ordinal, e.Runs)
	switch e.Type {
	case store.NightStart:
		return fmt.Sprintf("%s of %s", runsText(e.Runs), printable(e.Text))
	case store.NightResume:
		return fmt.Sprintf("%s of %s; an earlier start of this night was cut off, going on", runsText(e.Runs), printable(e.Text))
	case store.Leftover:
		return fmt.Sprintf("%s: %s", printable(e.Name), printable(e.Text))
	case store.RunReused:
		return at + printable(e.Name) + repeatText(e) + ": reused, " + printable(e.Text)
	case store.RunSkipped:
		return at + printable(e.Name) + repeatText(e) + ": skipped, " + printable(e.Text)
	case store.RunStart:
		if e.Text != "" {
			return at + printable(e.Name) + repeatText(e) + ", " + printable(e.Text)
		}
		return at + printable(e.Name) + repeatText(e)
	case store.PhaseStart, store.LevelProgress:
		if since < 30*time.Second {
			return ""
		}
		if e.Type == store.PhaseStart {
			return "      " + phaseText(e)
		}
		return fmt.Sprintf("      %s: %d of %d requests", e.Level, e.Done, e.Total)
	case store.Ready:
		if e.Text != "" {
			return "      " + e.Text
		}
		return fmt.Sprintf("      serving after %s", seconds(e.Seconds))
	case store.LevelReused:
		return fmt.Sprintf("      %s: kept, %s", e.Level, printable(e.Text))
	case store.LevelEnd:
		return "      " + e.Level + ": " + figuresText(e.Figures)
	case store.LevelFailed:
		return fmt.Sprintf("      %s: failed, %s", e.Level, printable(e.Text))
	case store.AttemptFailed:
		return fmt.Sprintf("      failed in phase %s (%s): %s", e.Phase, e.Cause, printable(e.Text))
	case store.AttemptEnd:
		if e.Text != "clean" {
			return "      NOT CLEAN: " + printable(e.Text)
		}
		return fmt.Sprintf("      stopped, nothing left (%s)", seconds(e.Seconds))
	case store.Stopping:
		return "stopping: " + printable(e.Text)
	case store.NightEnd:
		return "done: " + printable(e.Text)
	case store.Hook:
		return fmt.Sprintf("      hook %s (%s): %s", e.Phase, seconds(e.Seconds), printable(e.Text))
	case store.Warning:
		return "warning: " + printable(e.Text)
	default:
		return ""
	}
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func repeatText(e store.Event) string {
	if e.Repeat > 1 {
		return fmt.Sprintf(" (repeat %d)", e.Repeat)
	}
	return ""
}

func phaseText(e store.Event) string {
	if e.Progress != nil {
		return fmt.Sprintf("%s %.0f %%", e.Phase, *e.Progress*100)
	}
	return e.Phase
}

func figuresText(f *store.Figures) string {
	if f == nil {
		return "no figures"
	}
	text := fmt.Sprintf("%s output tok/s, TTFT p50 %s ms, TPOT p50 %s ms", figure(f.OutputThroughput), figure(f.TTFTp50), figure(f.TPOTp50))
	if f.Verdict != "valid" && f.Verdict != "" {
		codes := make([]string, len(f.Findings))
		for i, x := range f.Findings {
			codes[i], _, _ = strings.Cut(printable(x), ":")
		}
		text += fmt.Sprintf(", %s: %s", strings.ToUpper(f.Verdict), strings.Join(codes, ", "))
	}
	if f.Simulated {
		text += " (simulated)"
	}
	return text
}

// figure prints a number with three to four digits, n/a when it is not known.
func figure(v *float64) string {
	switch {
	case v == nil:
		return "n/a"
	case *v >= 100:
		return fmt.Sprintf("%.0f", *v)
	case *v >= 10:
		return fmt.Sprintf("%.1f", *v)
	default:
		return fmt.Sprintf("%.2f", *v)
	}
}

func seconds(s *float64) string {
	if s == nil {
		return "n/a"
	}
	return short(time.Duration(*s * float64(time.Second)))
}

// short prints a duration for a person.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// printable strips what a terminal would obey.
func printable(s string) string { return sglang.Plain(s) }
