package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sweep/internal/bench"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func TestInterruptedIsNoFailure(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	for o := 1; o <= 2; o++ {
		cut := measure(levels[0], 5)
		cut.Ended, cut.Completed, cut.Failed = bench.Interrupted, 3, 5
		ms := []bench.Measurement{cut}
		if o == 2 {
			ms = nil
		}
		run := *n.add(o, false, ms...)
		run = failedAs(run, sglang.Cause{Code: "level-failed", Class: sglang.Serving, Line: "the level ended early: interrupted"}, "", levels[0].Key())
		if o == 2 {
			run.Records[0].Status = sweep.StatusInterrupted
		}
		n.runs[o] = run
		var b bytes.Buffer
		if err := RunText(&b, run, nil, TextOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, "attempt 1: interrupted") || strings.Contains(out, "level-failed") {
			t.Error(out)
		}
	}
	table := Build(n.input("x"))
	if len(table.Failures) > 0 {
		t.Errorf("%+v", table.Failures)
	}
	if r := rowNamed(t, table.Levels[0], "x=1"); r.Verdict != "invalid" || r.Reason != "interrupted" {
		t.Errorf("%+v", r)
	}
	if r := rowNamed(t, table.Levels[0], "x=2"); r.Failed || r.Reason != "the run was interrupted" {
		t.Errorf("%+v", r)
	}
}

func TestExcerptsAreShort(t *testing.T) {
	long := strings.Repeat("word ", 60)
	var logged []string
	for i := range 40 {
		logged = append(logged, fmt.Sprintf("line-%02d %s", i, long))
	}
	for told, want := range map[string][2]string{"": {"line-30", "line-39"}, logged[5]: {"line-03", "line-12"}} {
		run := failedAs(newRun(labelled("c1", "x", "1"), 1, false), sglang.Cause{Code: "x", Line: told}, "", "")
		run.Records[0].Failure.Excerpt = logged
		run.Records[0].Failure.Log = "runs/c1/r/attempt-1/server.log"
		var b bytes.Buffer
		if err := RunText(&b, run, nil, TextOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`line-\d\d`).FindAllString(b.String(), -1)
		if len(found) != 10 || found[0] != want[0] || found[9] != want[1] || !strings.Contains(b.String(), "… 30 lines more") ||
			!strings.Contains(b.String(), "log  runs/c1/r/attempt-1/server.log") {
			t.Errorf("%v in\n%s", found, b.String())
		}
	}
}
