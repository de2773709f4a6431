package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestLabLaunchLogsClean: one configuration is started in a container and
// stays; its URL answers, a sweep says that it is there, a name ends it. The
// log of a run can be read while it is under way.
func TestLabLaunchLogsClean(t *testing.T) {
	agent := staticSweep(t)
	p := labPlace(t, "H0", agent, strings.Replace(labLevel, "[64]", "[8, 64]", 1))
	if out, err := p.command("launch", p.file).CombinedOutput(); err == nil || !strings.Contains(string(out), "--only") {
		t.Errorf("launch of two configurations: %v\n%s", err, out)
	}
	launched := p.command("launch", p.file, "--only", "max-running-requests=64")
	url, err := launched.Output()
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	resp, err := http.Get(strings.TrimSpace(string(url)) + "/health")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("health: %d", resp.StatusCode)
	}
	shown := p.mustRun("clean", "--yes")
	name := regexp.MustCompile(`sweep-kept-c[0-9a-f]+`).FindString(shown)
	if name == "" || !strings.Contains(shown, "kept") || strings.Contains(shown, "ended "+name) {
		t.Fatalf("clean --yes of what was launched to stay: %s", shown)
	}

	run := p.command("run", p.file, "--only", "max-running-requests=8")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !measuring(p.journal(), "c=8"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no level was begun")
		}
	}
	if text := p.mustRun("logs", "max-running-requests=8"); !strings.Contains(text, "Decode batch") {
		t.Errorf("the log of a run that is under way: %.400s", text)
	}
	followed := p.command("logs", "-f", "max-running-requests=8")
	if err := followed.Start(); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil {
		t.Errorf("run beside a launched server: %v", err)
	}
	if err := followed.Wait(); err != nil {
		t.Errorf("logs -f does not end with its server: %v", err)
	}
	if !strings.Contains(p.journal(), "was launched to stay") {
		t.Error("the night does not say that a launched server is there")
	}
	if text := p.mustRun("clean", "local", name, "--yes"); !strings.Contains(text, "ended "+name) {
		t.Errorf("clean by name: %s", text)
	}
	if left := p.mustRun("clean"); !strings.Contains(left, "nothing of sweep's is left") {
		t.Errorf("left behind: %s", left)
	}
}

// TestLabContainerStopsUnderLoad: a container that is stopped by somebody fails
// its run, with one more attempt, and not the night.
func TestLabContainerStopsUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; runs without -short")
	}
	agent := staticSweep(t)
	p := labPlace(t, "H0", agent, strings.Replace(labLevel, "[64]", "[32, 64]", 1))
	run := p.command("run", p.file)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !measuring(p.journal(), "c=8"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no level was begun")
		}
	}
	list := exec.Command("incus", "list", "-f", "csv", "-c", "n", "user.sweep.made=true")
	list.Env = append(os.Environ(), "INCUS_DIR="+inLab(t, "LAB_H0_INCUS_DIR"), "INCUS_CONF="+inLab(t, "LAB_H0_INCUS_CONF"))
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	stopped := ""
	for name := range strings.FieldsSeq(string(names)) {
		if strings.Contains(p.journal(), strings.TrimPrefix(name, "sweep-")[:8]) && !strings.Contains(name, "facts") {
			stopped = name
		}
	}
	stop := exec.Command("incus", "stop", "-f", stopped)
	stop.Env = list.Env
	if out, err := stop.CombinedOutput(); err != nil {
		t.Fatalf("stop %q: %v\n%s", stopped, err, out)
	}
	if err := run.Wait(); err != nil {
		t.Errorf("the night: %v\n%s", err, p.journal())
	}
	if got := p.throughputs(); len(got) != 4 {
		t.Errorf("measured %v, want two levels of two configurations", got)
	}
	if text := p.journal(); !strings.Contains(text, `"container-stopped"`) || strings.Count(text, `"attempt.start"`) != 3 {
		t.Errorf("the journal does not tell of it:\n%s", text)
	}
	if left := p.mustRun("clean"); !strings.Contains(left, "nothing of sweep's is left") {
		t.Errorf("left behind: %s", left)
	}
}
