package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// labAway is a place whose nights run on a host of the lab itself. They measure
// anew each time: the host keeps its records.
func labAway(t *testing.T, host, agent string) away {
	t.Helper()
	text := strings.Replace(shortNight, "server:\n", fmt.Sprintf("server:\n  env: {SALT: %q}\n", time.Now().String()), 1)
	text = strings.Replace(text, "prompts: 24", "prompts: 120", 1)
	a := away{place: newPlace(t, "host: lab"+host+"\n"+text), agent: agent}
	a.env = []string{"SWEEP_SSH_CONFIG=" + inLab(t, "LAB_H"+host+"_SSH_CONFIG"), "SWEEP_AGENT=" + agent}
	return a
}

func labCut(t *testing.T, host, how string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), filepath.Join(inLab(t, "LAB_DIR"), "cut"), host, how).CombinedOutput(); err != nil {
		t.Errorf("lab/cut %s %s: %v\n%s", host, how, err, out)
	}
}

// TestMovedToLab cuts the way to real lab hosts: connections die, a network is
// away for 20 seconds.
func TestMovedToLab(t *testing.T) {
	inLab(t, "SWEEP_LAB")
	agent := staticSweep(t)
	t.Run("connections die", func(t *testing.T) {
		a := labAway(t, "0", agent)
		c, said := a.begin("run", a.file)
		for _, word := range []string{"serving after", "[2/4]", "[3/4]"} {
			a.until(word, func() bool {
				return strings.Contains(said.String(), word) || strings.Contains(said.String(), "sweep: ")
			})
			labCut(t, "0", "kill")
		}
		if err := c.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		has(t, said.String(), "done: 8 levels measured")
		a.complete()
	})
	t.Run("partition", func(t *testing.T) {
		a := labAway(t, "1", agent)
		c, said := a.begin("run", a.file)
		a.until("it serves", func() bool {
			return strings.Contains(said.String(), "serving after") || strings.Contains(said.String(), "sweep: ")
		})
		t.Cleanup(func() { _ = exec.Command(filepath.Join(inLab(t, "LAB_DIR"), "cut"), "1", "heal").Run() })
		labCut(t, "1", "cut")
		time.Sleep(20 * time.Second) // the length of the cut, not a wait for something
		labCut(t, "1", "heal")
		if err := c.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		has(t, said.String(), "link to lab1 lost", "the night goes on there", "link to lab1 is back after", "done: 8 levels measured")
		for _, level := range []string{"c=1: ", "c=8: "} {
			if n := strings.Count(said.String(), level); n != 4 {
				t.Errorf("%s is said %d times\n%s", level, n, said)
			}
		}
		a.complete()
	})
}
