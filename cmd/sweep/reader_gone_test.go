package main

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if readerGone(int32(w.Fd())) {
		t.Error("a pipe that is read has no reader")
	}
	r.Close()
	if !readerGone(int32(w.Fd())) {
		t.Error("a pipe without a reader has one")
	}
}

// TestBrokenConnectionIsNoWishToStop: the kernel sends the same signal for any
// connection that breaks under a write; a night must not end for it.
func TestBrokenConnectionIsNoWishToStop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds; runs without -short")
	}
	t.Parallel()
	p := newPlace(t, shortNight)
	c := p.command("run", "--json", p.file)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	told := false
	for lines.Scan() {
		if !told && strings.Contains(lines.Text(), `"level.start"`) {
			told = true
			if err := exec.Command("kill", "-PIPE", strconv.Itoa(c.Process.Pid)).Run(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := c.Wait(); err != nil || !told {
		t.Errorf("the night ended with %v (signal sent: %t)", err, told)
	}
	p.complete()
}
