package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// deadlineNight has more levels than fit before the next full minute or two.
const deadlineNight = `name: late
server:
  command: [sweep, sim, --preset, small, --startup-scale, "60"]
  flags: {model-path: sim/small-8b}
  base-port: %d
matrix: {max-running-requests: [16, 32, 64]}
bench:
  workloads: {tiny: {input-len: 64, output-len: 32, range-ratio: 1, seed: 1}}
  levels: [{concurrency: 8, prompts: 180}]
repeats: 9
night: {deadline: "DEADLINE UTC", cooldown: 1s}
`

// TestDeadlineEndsTheNight: at the deadline the level in flight is finished and
// kept, the teardown done, what was not run is listed, and the same command
// takes it up again.
func TestDeadlineEndsTheNight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute or two; runs without -short")
	}
	t.Parallel()
	at := time.Now().UTC().Add(14 * time.Second).Truncate(time.Minute).Add(time.Minute)
	p := newPlace(t, strings.Replace(deadlineNight, "DEADLINE", at.Format("15:04"), 1))
	c := p.command("run", p.file)
	out, err := c.CombinedOutput()
	ended := time.Now()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Fatalf("%v, want exit 1\n%s", err, out)
	}
	if ended.Before(at) {
		t.Errorf("it ended %s before its deadline", at.Sub(ended))
	}
	if late := ended.Sub(at); late > 45*time.Second {
		t.Errorf("it ended %s after its deadline\n%s", late, out)
	}
	if !strings.Contains(p.journal(), `"phase":"cooldown"`) {
		t.Error("there was no cooldown between two starts")
	}
	if strings.Contains(string(out), "sweep: interrupted") {
		t.Errorf("a deadline is no interruption\n%s", out)
	}
	for _, want := range []string{"the deadline " + at.Format("15:04") + " UTC is reached", "Not measured"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	measured := p.measurements()
	for path := range measured {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"complete"`) {
			t.Errorf("%s is not complete: %v", path, err)
		}
	}
	ends := strings.Count(p.journal(), `"level.end"`)
	if starts := strings.Count(p.journal(), `"level.start"`); starts != ends || ends != len(measured) || ends == 0 {
		t.Errorf("%d levels begun, %d ended, %d measurements: the level in flight was not finished", starts, ends, len(measured))
	}

	later := p.command("run", p.file)
	if err := later.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); strings.Count(p.journal(), `"level.end"`) == ends && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	_ = later.Process.Signal(os.Interrupt)
	_ = later.Wait()
	if text := p.journal(); !strings.Contains(text, `"night.resume"`) || strings.Count(text, `"level.end"`) == ends {
		t.Errorf("the same command did not take the night up again:\n%s", text)
	}
}
