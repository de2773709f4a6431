package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A night of this machine is stopped by its name, at once or after the level in
// flight, and goes on as after Ctrl-C.
func TestStopHere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  []string
		there int // measurements
	}{{"now", nil, 1}, {"after the level", []string{"--after-level"}, 2}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, strings.Replace(shortNight, "prompts: 24", "prompts: 200", 1))
			night, out := p.startAndWait(`"level.progress","ordinal":1,"runs":4,"total":200`)
			if text := p.mustRun("status"); !strings.Contains(text, "-short · here · running · [1/4] c=8") {
				t.Errorf("status: %s", text)
			}
			text := p.mustRun(append([]string{"stop", "short"}, c.args...)...)
			for _, want := range []string{"was asked to stop", "has ended: ", "4 not run"} {
				if want == "4 not run" && c.args != nil {
					want = "3 not run"
				}
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said:\n%s", want, text)
				}
			}
			if err := night.Wait(); night.ProcessState.ExitCode() != exitInterrupted {
				t.Errorf("%v\n%s", err, out)
			}
			if n := len(p.measurements()); n != c.there {
				t.Errorf("%d measurements, want %d", n, c.there)
			}
			p.noneLeft("after the stop")
			if _, err := os.Stat(strings.TrimSuffix(p.newestJournal(), "events.jsonl") + "stop"); err == nil {
				t.Error("the order is still there")
			}
			p.mustRun("run", p.file)
			p.complete()
		})
	}
}

// newestJournal is the file of the newest journal.
func (p place) newestJournal() string {
	paths := p.journals()
	return paths[len(paths)-1]
}

func (p place) journals() []string {
	p.t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.dir, "data/sweep/nights/*/events.jsonl"))
	if err != nil || len(paths) == 0 {
		p.t.Fatalf("no journal: %v", err)
	}
	return paths
}
