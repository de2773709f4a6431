package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What `sweep run` does beside a server that was launched to stay is what
// `sweep check` foretells, and its remedy is one that helps.
func TestCheckTellsOfAKeptServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, strings.NewReplacer("%[1]d", "%d", "%[2]s", "sweep").Replace(gpuNight))
	name := regexp.MustCompile(`sweep-kept-c[0-9a-f]+`).FindString(p.mustRun("launch", p.file, "--only", "max-running-requests=64"))
	t.Cleanup(func() { _ = p.command("clean", "local", name, "--yes").Run() })
	other := fmt.Sprint(freePort(t)) // on the bare machine it has the plan's
	text := regexp.MustCompile(`\s+`).ReplaceAllString(p.mustRun("check", p.file, "--base-port", other), " ")
	remedy := "clean local " + name + " --yes"
	if !strings.Contains(text, "`sweep "+remedy+"` ends it") || !strings.Contains(text, "warn kept: ") || strings.Contains(text, "a dead sweep left") {
		t.Fatalf("check: %s", text)
	}
	real := strings.Replace(gpuNight, "[%[2]s, sim,", "[/bin/true,", 1)
	if err := os.WriteFile(p.file+"-real", []byte(strings.Replace(real, "%[1]d", other, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := p.command("check", "-q", p.file+"-real").CombinedOutput()
	if text := regexp.MustCompile(`\s+`).ReplaceAllString(string(out), " "); err == nil || !strings.Contains(text, "FAIL kept: ") || !strings.Contains(text, remedy) {
		t.Errorf("check of a plan that needs GPUs: %v\n%s", err, text)
	}
	p.mustRun(strings.Fields(remedy)...)
	if text := p.mustRun("check", p.file); strings.Contains(text, "kept") {
		t.Errorf("after its remedy: %s", text)
	}
}
