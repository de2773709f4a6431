package bench

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTable(t *testing.T) {
	level := Level{Mode: Closed, Concurrency: 2, Prompts: 5, Workload: Workload{InputLen: 10, OutputLen: 4, Seed: 1, RangeRatio: 1}}
	m := aggregate(level, SLO{TTFT: 150 * time.Millisecond}, []trace{
		scripted(0, 0, arrival{at: 100 * msec, tokens: 1}, arrival{at: 300 * msec, tokens: 2001}, arrival{at: 1000 * msec, tokens: 1}),
		scripted(1, 10*msec, arrival{at: 200 * msec, tokens: 4}, arrival{at: 1100 * msec, tokens: 3}),
		scripted(0, 1000*msec, arrival{at: 1100 * msec, tokens: 1}, arrival{at: 1600 * msec, tokens: 1}),
		failed(1, 1100*msec, 2000*msec, "HTTP 503: "+strings.Repeat("very ", 20)+"busy"),
	})
	m.Ended, m.Warmup, m.Flush = AtMaxLevel, 2, flushed
	var b strings.Builder
	if err := Table(&b, m); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	order := -1
	for _, want := range []string{"c=2", "ENDED EARLY: max-level", "output tok/s", "1,845", "steady state: all slots filled, 1.09 s", "with ramp", "1,006", "whole window, 2.00 s", "input tok/s", "15.00",
		"total tok/s", "1,021", "goodput", "50.0 % of issued", "\nms ", "p50", "\nTTFT", "\nTPOT", "\nITL", "\nchunk gap", "\nE2E",
		"5 asked, 4 issued, 3 completed, 1 failed", "1 x HTTP 503: very", "30 in, 2,012 out; 2 to 2,003 out a request", "warm-up   2 requests; cache flush: flushed", "client"} {
		at := strings.Index(got, want)
		if at < 0 {
			t.Errorf("no %q in\n%s", want, got)
		} else if at < order {
			t.Errorf("%q comes too early in\n%s", want, got)
		}
		order = max(order, at)
	}
	for line := range strings.Lines(got) {
		if i := strings.Index(line, "tok/s"); i > 0 && !strings.HasSuffix(line[:i], "output ") && !strings.HasSuffix(line[:i], "input ") && !strings.HasSuffix(line[:i], "total ") {
			t.Errorf("a bare tok/s: %s", line)
		}
	}
}

// Which output tok/s stands first depends on how the level ended.
func TestTableOutputRows(t *testing.T) {
	steady := &Steady{Seconds: 3, OutputThroughput: ptr(200)}
	for name, c := range map[string]struct {
		ended  Ended
		steady *Steady
		want   []string
	}{
		"complete":              {Complete, steady, []string{"output tok/s", "100.0", "whole window, 4.00 s", "steady state", "200.0", "all slots filled, 3.00 s"}},
		"complete, no steady":   {Complete, nil, []string{"output tok/s", "100.0", "whole window, 4.00 s", "best second"}},
		"max-level":             {AtMaxLevel, steady, []string{"output tok/s", "200.0", "steady state", "with ramp and drain", "100.0", "whole window", "3 cut off"}},
		"max-level, no steady":  {AtMaxLevel, nil, []string{"output tok/s", "n/a", "steady state: there was none", "with ramp and drain", "100.0"}},
		"input was not counted": {Complete, nil, []string{"tokens    n/a in, 400 out"}},
	} {
		m := Measurement{Level: closed(2, 4), Window: 4, Ended: c.ended, OutputTokens: 400, OutputThroughput: ptr(100), Steady: c.steady}
		if c.ended == AtMaxLevel {
			m.Cut = 3
		}
		var b strings.Builder
		if err := Table(&b, m); err != nil {
			t.Fatal(err)
		}
		rest := b.String()
		for _, want := range c.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s: no %q, or too early, in\n%s", name, want, b.String())
				break
			}
			rest = after
		}
		if c.ended == Complete && strings.Contains(b.String(), "cut off") {
			t.Errorf("%s: nothing was cut:\n%s", name, b.String())
		}
	}
}

func TestTableOfNothing(t *testing.T) {
	var b strings.Builder
	m := aggregate(closed(1, 2), SLO{}, []trace{failed(0, 0, 0, "x")})
	if err := Table(&b, m); err != nil || !strings.Contains(b.String(), "n/a") || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v\n%s", err, b.String())
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "output tok/s") && !strings.Contains(line, "n/a") {
			t.Errorf("not measured, shown as %s", line)
		}
	}
}
