package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestMovedAsk asks another host without running a night from its sweep file,
// or beside one.
func TestMovedAsk(t *testing.T) {
	inLab(t, "LAB_H0_KEY")
	agent := staticSweep(t)
	for name, test := range map[string]func(*testing.T, away){
		"logs": testMovedLogs, "launch": testMovedLaunch, "init": testMovedInit, "unfit": testMovedUnfit, "no config": testMovedNoConfig,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newAway(t, agent))
		})
	}
}

// The log of a run that is under way over there, by all its names; between two
// runs -f waits.
func testMovedLogs(t *testing.T, a away) {
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "prompts: 24", "prompts: 300", 1))
	c, said := a.begin("run", a.file)
	a.untilThere(`"ready"`)
	for _, name := range []string{"last", "short"} {
		has(t, a.mustRun("logs", name), "is on gpu1: the log is read there", ", attempt 1, night ", "under way", "fired up")
	}
	has(t, a.mustRun("clean", awayAlias), "a sweep runs on this host")
	code, text := a.code("clean", awayAlias, "--yes")
	has(t, text, "gpu1 is busy", "sweep stop 2")
	if code != exitHost || strings.Contains(text, "kill -INT") {
		t.Errorf("clean --yes while a night is under way: code %d\n%s", code, text)
	}
	if code, text = a.code("logs", "cap=narrow"); code != exitFailed || strings.Count(text, "\n") != 2 || !strings.Contains(text, "with -f its log is waited for") {
		t.Errorf("logs of a run to come: code %d\n%s", code, text)
	}
	next, nextLog := a.begin("logs", "-f", "cap=narrow")
	defer func() {
		if err := next.Wait(); err != nil {
			t.Errorf("logs -f of a run to come: %v\n%s", err, nextLog)
		}
		has(t, nextLog.String(), "waiting for the next one", "of cap=narrow, attempt 1", "fired up")
	}()
	followed, log := a.begin("logs", "-f", "last")
	if err := followed.Wait(); err != nil {
		t.Errorf("logs -f: %v\n%s", err, log)
	}
	has(t, log.String(), "the log is read there", "Decode batch")
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	text = a.mustRun("logs", "last")
	if !regexp.MustCompile(`attempt 1, night \S+, ended [0-9]{2}:[0-9]{2}`).MatchString(text) || strings.Contains(text, "read there") {
		t.Errorf("the log of an ended run does not say whose it is: %.600s", text)
	}
}

// Another host that only hosts.yaml beside the sweep file knows.
func testMovedLaunch(t *testing.T, a away) {
	dir := filepath.Join(a.dir, "files")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.write("ssh_config", strings.Replace(readAll(t, a.config), "Host "+awayAlias, "Host real", 1))
	a.write("files/hosts.yaml", "box: {address: real}\n")
	a.write("files/night.yaml", strings.Replace(readAll(t, a.file), "host: "+awayAlias, "host: box", 1))
	file := filepath.Join(dir, "night.yaml")
	if code, text := a.code("check", file); code != exitOK && code != exitFailed || !strings.Contains(text, "host") {
		t.Errorf("check: code %d\n%s", code, text)
	}
	text := a.mustRun("launch", file, "--only", "cap=wide")
	has(t, text, "serves after", "`sweep clean box sweep-kept-c", "the URL is reachable from box; from here: `ssh -N -L ", ":127.0.0.1:", " -F ", " -p "+a.port+" root@127.0.0.1`, then http://127.0.0.1:")
	kept := regexp.MustCompile(`sweep-kept-c[0-9a-f]+`).FindString(text)
	a.write("hosts.yaml", "box: {address: real}\n")
	text = a.mustRun("clean", "box")
	has(t, text, "kept "+kept, "ended only by its name: `sweep clean box NAME --yes`")
	text = a.mustRun("clean", "box", kept)
	has(t, text, "`sweep clean box "+kept+" --yes` ends it")
	if strings.Contains(text, "`sweep clean --yes`") {
		t.Errorf("clean by name: %s", text)
	}
	has(t, a.mustRun("clean", "box", kept, "--yes"), "ended "+kept)
}

// A file to start from, for the GPUs that the other host itself has.
func testMovedInit(t *testing.T, a away) {
	bin := filepath.Join(a.there, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	smi := "#!/bin/sh\ncase \"$1\" in *query-gpu*) for i in 0 1 2; do echo \"$i, GPU-$i, NVIDIA H200, 10, 143771, 580.95\"; done;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(smi), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	has(t, a.mustRun("init", "--host", awayAlias, "-"), "host: gpu1", "It was asked over SSH", "GPUs: 3 × NVIDIA H200, 140 GiB each", "tp3:")
}

// What the check finds there before a night is about the host: code 3.
func testMovedUnfit(t *testing.T, a away) {
	lock, err := os.OpenFile(filepath.Join(a.there, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	code, text := a.code("run", a.file)
	has(t, text, "the check of gpu1 failed, and nothing was started")
	if code != exitHost || len(a.held()) > 0 {
		t.Errorf("code %d, held there %v", code, a.held())
	}
}

func testMovedNoConfig(t *testing.T, a away) {
	good := a.config
	a.env = []string{"SWEEP_SSH_CONFIG=" + good + ".gone", "SWEEP_AGENT=" + a.agent}
	code, text := a.code("run", a.file)
	has(t, text, "there is no SSH configuration "+good+".gone: SWEEP_SSH_CONFIG names it")
	if code != exitUsage {
		t.Errorf("code %d", code)
	}
	a.env[0] = "SWEEP_SSH_CONFIG=" + good
	a.write("ssh_config", strings.Replace(readAll(t, good), "Host gpu1", "Host gpu12", 1))
	_, text = a.code("clean", "gpu13")
	has(t, text, `did you mean "gpu12"?`)
	a.write("known_hosts", "")
	_, text = a.code("clean", "gpu12")
	if strings.Count(text, "--accept-new-host-key") != 1 {
		t.Errorf("the way out is to be said once: %s", text)
	}
}
