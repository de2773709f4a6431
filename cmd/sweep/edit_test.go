package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The file is edited while a night runs: the night measures what it was planned
// from. The edited file is another night, which says so; the file as it was goes
// on in the first one.
func TestD08EditedFileIsAnotherNight(t *testing.T) {
	t.Parallel()
	text := strings.Replace(shortNight, "repeats: 2", "repeats: 1", 1)
	p := newPlace(t, text)
	c, out := p.startAndWait(`"level.end"`)
	p.write(strings.Replace(text, "narrow: {max-running-requests: 2}", "narrow: {max-running-requests: 3}", 1))
	p.waitFor(`"run.start","ordinal":2`)
	_ = c.Process.Signal(syscall.SIGINT)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit code %d, want %d\n%s", code, exitInterrupted, out)
	}
	if strings.Contains(p.allRecords(), `"3"`) {
		t.Error("the edit reached the night that was under way")
	}

	edited := p.mustRun("run", p.file)
	first := p.nights()[0]
	for _, want := range []string{"warning: night " + first + " of short was cut off and had another plan: the file was changed", "cap=wide: reused", "[2/2] cap=narrow"} {
		if !strings.Contains(edited, want) {
			t.Errorf("%q is not said:\n%s", want, edited)
		}
	}
	if !strings.Contains(p.allRecords(), `"3"`) || len(p.nights()) != 2 {
		t.Errorf("nights %v; the edited file was not measured", p.nights())
	}

	p.write(text)
	if again := p.mustRun("run", p.file); !strings.Contains(again, "an earlier start of this night was cut off, going on") || len(p.nights()) != 2 {
		t.Errorf("nights %v; the first night did not go on:\n%s", p.nights(), again)
	}
	if again := p.mustRun("run", p.file); strings.Contains(again, "another plan") {
		t.Errorf("a night that is over is called cut off:\n%s", again)
	}
}

// write puts a text into the sweep file of this place.
func (p place) write(yaml string) {
	p.t.Helper()
	if err := os.WriteFile(p.file, fmt.Appendf(nil, yaml, p.port), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// nights are the names of the nights so far, oldest first.
func (p place) nights() []string {
	paths, _ := filepath.Glob(filepath.Join(p.dir, "data/sweep/nights/*"))
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

func (p place) allRecords() string {
	var all strings.Builder
	for _, text := range p.records() {
		all.WriteString(text)
	}
	return all.String()
}
