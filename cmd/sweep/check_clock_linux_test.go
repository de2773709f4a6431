package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestClockLine(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		0:                        "",
		2 * time.Second:          "",
		-1900 * time.Millisecond: "",
		14 * time.Second:         "the clock of rtx6k is 14 s ahead of this machine's: times of records are the host's",
		-90 * time.Minute:        "the clock of rtx6k is 1 h 30 min behind this machine's: times of records are the host's",
	} {
		if got := clockLine("rtx6k", ahead); got != want {
			t.Errorf("%s: %q, want %q", ahead, got, want)
		}
	}
}

// A host whose clock is wrong is said to be so once, by check and before a
// night, and never in what is read by programs.
func TestCheckSaysAnotherHostsClock(t *testing.T) {
	inLab(t, "LAB_H0_KEY")
	a := newAway(t, staticSweep(t))
	if code, text := a.code("check", a.file); code != 0 || strings.Contains(text, "the clock of") {
		t.Errorf("a clock that is right: code %d\n%s", code, text)
	}
	date := filepath.Join(a.there, "bin", "date")
	if err := os.MkdirAll(filepath.Dir(date), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(date, []byte("#!/bin/sh\nexec /bin/date -d '1 hour' +%s.%N\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	c := a.command("check", "--json", a.file)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	const line = "sweep: the clock of gpu1 is 1 h 00 min ahead of this machine's: times of records are the host's\n"
	if err != nil || strings.Contains(string(out), "the clock of") || strings.Count(said.String(), line) != 1 {
		t.Errorf("%v\n%s\n%s", err, said.String(), out)
	}
	if code, text := a.code("run", a.file); code != 0 || strings.Count(text, line) != 1 {
		t.Errorf("run: code %d\n%s", code, text)
	}
}
