package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startAndWait starts a night and waits until its journal says something.
func (p place) startAndWait(word string) (*exec.Cmd, *bytes.Buffer) {
	p.t.Helper()
	c := p.command("run", p.file)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.waitFor(word)
	return c, &out
}

// waitFor waits until the newest journal says something.
func (p place) waitFor(word string) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.journal(), word); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("after a minute the journal does not say %s:\n%s", word, p.journal())
		}
	}
}

// underLoad is what the journal says once the long level of longNight runs.
const underLoad = `"level.progress"`

// longNight is shortNight with a second level that lasts.
var longNight = strings.Replace(shortNight, "prompts: 24", "prompts: 400", 1)

// pids finds processes of this place by a word of their command line.
func (p place) pids(word string) []int {
	var found []int
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, e := range entries {
		text, _ := os.ReadFile(e)
		words := strings.Split(string(text), "\x00")
		if strings.HasPrefix(words[0], p.dir) && len(words) > 1 && words[1] == word {
			var pid int
			if _, err := fmt.Sscanf(e, "/proc/%d/", &pid); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// record reads the records of all attempts, by path.
func (p place) records() map[string]string {
	found := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(p.dir, "data/sweep/runs/*/*/attempt-*/record.json"))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		found[path] = string(text)
	}
	return found
}

// The runner dies in the middle of a level: the same server and the same bench
// are taken up again, and nothing is asked of the server meanwhile.
func TestE10RunnerDiesAndTheServerServesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, longNight)
	c, _ := p.startAndWait(underLoad)
	_ = c.Process.Kill()
	_ = c.Wait()
	server := p.pids("sim")
	if len(server) != 1 || len(p.pids("bench")) != 1 {
		t.Fatalf("servers %v and benches %v after the runner died, want one each", server, p.pids("bench"))
	}
	text := p.mustRun("run", p.file)
	for _, want := range []string{"kept: its server is still up", "its server serves on"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	if n := len(p.records()); n != 4 {
		t.Errorf("%d attempts, want 4: the first one was to go on", n)
	}
	p.complete()
}

// The runner dies, then the server: its log and its end are brought home.
func TestA26DeadServersLogIsKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t, longNight)
	c, _ := p.startAndWait(underLoad)
	_ = c.Process.Kill()
	_ = c.Wait()
	for _, pid := range p.pids("sim") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	time.Sleep(500 * time.Millisecond) // its supervisor writes down how it ended
	text := p.mustRun("run", p.file)
	if !strings.Contains(text, "its server had failed") {
		t.Errorf("the death of the server is not told:\n%s", text)
	}
	failed := 0
	for path, r := range p.records() {
		if strings.Contains(r, `"status": "failed"`) || strings.Contains(r, `"status":"failed"`) {
			failed++
			if log, err := os.ReadFile(filepath.Join(filepath.Dir(path), "server.log")); err != nil || !bytes.Contains(log, []byte("fired up")) {
				t.Errorf("the log of the server that died: %v, %d bytes", err, len(log))
			}
			if !strings.Contains(r, "SIGKILL") {
				t.Errorf("how it ended is not kept: %s", r)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d failed attempts on record, want 1", failed)
	}
	p.complete()
}

// Ctrl-C twice leaves at once; the same command measures the level again and
// blames nobody.
func TestDoubleInterruptThenGoOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, longNight)
	c, out := p.startAndWait(underLoad)
	_ = c.Process.Signal(syscall.SIGINT)
	time.Sleep(30 * time.Millisecond)
	_ = c.Process.Signal(syscall.SIGINT)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, out)
	}
	text := p.mustRun("run", p.file)
	if strings.Contains(text, "INVALID") || strings.Contains(text, "failed in phase") {
		t.Errorf("the interruption reads as a failure:\n%s", text)
	}
	p.complete()
}

// Whoever reads the output goes away: the night stops and tears down.
func TestBrokenPipeTearsDown(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shortNight)
	c := p.command("run", "--json", p.file)
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	for range 5 {
		lines.Scan()
	}
	pipe.Close()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	p.noneLeft("after the reader went away")
}

func TestSecondSweepOnAHostIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shortNight)
	c, _ := p.startAndWait(`"attempt.start"`)
	out, err := p.command("run", p.file).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitHost || !bytes.Contains(out, []byte("another sweep is running here (pid ")) {
		t.Errorf("%v: %s", err, out)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the first sweep: %v", err)
	}
	p.complete()
}

// gpuNight is one whose server claims GPUs: not the simulator by its name, so
// the cards are looked at.
const gpuNight = `name: cards
server:
  command: [%[2]s, sim, --preset, small, --startup-scale, "60", --time-scale, "4"]
  flags: {model-path: sim/small-8b}
  base-port: %[1]d
matrix: {max-running-requests: [64, 2]}
bench:
  workloads: {tiny: {input-len: 32, output-len: 24, range-ratio: 1, seed: 1}}
  levels: [{concurrency: 1, prompts: 2}]
`

// withCards gives a place an nvidia-smi that prints what a file says.
func (p place) withCards(text string) (path string, env string) {
	dir := filepath.Join(p.dir, "bin")
	path = filepath.Join(p.dir, "cards")
	script := "#!/bin/sh\ncase \"$1\" in --query-gpu*) cat " + path + "; exit $(cat " + path + ".code);; *) cat " + path + ".apps;; esac\n"
	for name, content := range map[string]string{path: text, path + ".code": "0", path + ".apps": "", filepath.Join(dir, "nvidia-smi"): script} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	return path, "PATH=" + dir + ":" + os.Getenv("PATH")
}

func card(used string) string { return "0, GPU-a, RTX PRO 6000, " + used + ", 97887, 580.95\n" }

func TestA12BusyCardStopsTheNightAndAMendedHostGoesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	if err := os.WriteFile(p.file, fmt.Appendf(nil, gpuNight, p.port, binary), 0o600); err != nil {
		t.Fatal(err)
	}
	cards, env := p.withCards(card("95000"))
	run := func() (string, int) {
		c := p.command("run", p.file)
		c.Env = append(c.Env, env)
		out, _ := c.CombinedOutput()
		return string(out), c.ProcessState.ExitCode()
	}
	begun := time.Now()
	text, code := run()
	if code != exitHost || !strings.Contains(text, "GPU 0 holds 95000 MiB") {
		t.Errorf("exit %d:\n%s", code, text)
	}
	if strings.Contains(text, "dirty host") || time.Since(begun) > 20*time.Second {
		t.Errorf("somebody else's card is called our dirt, after %s:\n%s", time.Since(begun), text)
	}
	if err := os.WriteFile(cards, []byte(card("3")), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, code = run(); code != exitOK || strings.Contains(text, "skipped") {
		t.Errorf("after mending, exit %d:\n%s", code, text)
	}
}

func TestB07LostCardIsNotClean(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	if err := os.WriteFile(p.file, fmt.Appendf(nil, gpuNight, p.port, binary), 0o600); err != nil {
		t.Fatal(err)
	}
	cards, env := p.withCards(card("3"))
	c := p.command("run", p.file)
	c.Env = append(c.Env, env)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.waitFor(`"attempt.start"`)
	if err := os.WriteFile(cards+".code", []byte("15"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitHost || !strings.Contains(out.String(), "GPU is lost") {
		t.Errorf("exit %d:\n%s", code, out.String())
	}
}

// Exit codes of what needs no server, by calling the program's own run.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("name: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"help"}, exitOK},
		{[]string{"version"}, exitOK},
		{[]string{"plan", "../../sweeps/demo.yaml"}, exitOK},
		{[]string{"run"}, exitUsage},
		{[]string{"run", bad}, exitUsage},
		{[]string{"plan", bad, "--json"}, exitUsage},
		{[]string{"nosuch"}, exitUsage},
		{[]string{"run", "--nosuch", bad}, exitUsage},
		{[]string{"report", "--data", dir, "nosuch"}, exitUsage},
		{[]string{"compare", "--data", dir, "a", "b"}, exitUsage},
		{[]string{"bench", "http://127.0.0.1:1", "--concurrency", "0"}, exitUsage},
		{[]string{"bench", "http://127.0.0.1:1/v1"}, exitUsage},
		{[]string{"bench", "http://127.0.0.1:1"}, exitFailed},
	} {
		var out, errs bytes.Buffer
		if got := run(t.Context(), append([]string{"sweep"}, c.args...), streams{strings.NewReader(""), &out, &errs}); got != c.want {
			t.Errorf("sweep %s: exit %d, want %d\n%s", strings.Join(c.args, " "), got, c.want, errs.String())
		}
	}
}

// Every line of --json is an event, numbered without gaps.
func TestEventsAreJSONLines(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shortNight)
	out, err := p.command("run", "--json", p.file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var e struct {
			Schema, Seq int
			Type        string
		}
		if err := json.Unmarshal(line, &e); err != nil || e.Schema != 1 || e.Seq != i+1 || e.Type == "" {
			t.Fatalf("line %d: %v: %s", i+1, err, line)
		}
	}
}

// A model path without its files fails in seconds, by name, and no server is
// started for it.
func TestA24ModelPathIsCheckedFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	model := filepath.Join(p.dir, "models", "GLM-5")
	yaml := strings.Replace(fmt.Sprintf(gpuNight, p.port, binary), "sim/small-8b", model, 1)
	if err := os.WriteFile(p.file, []byte(strings.Replace(yaml, "[64, 2]", "[64]", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(model, 0o755), os.WriteFile(filepath.Join(model, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(code int, want string) {
		t.Helper()
		c := p.command("run", p.file)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != code || !strings.Contains(string(out), want) {
			t.Errorf("exit %d, want %d and %q:\n%s", c.ProcessState.ExitCode(), code, want, out)
		}
	}
	run(exitFailed, "has no readable config.json")
	write("config.json", "{}")
	write("model.safetensors.index.json", `{"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-2.safetensors"}}`)
	write("m-1.safetensors", "x")
	run(exitFailed, "lacks 1 of 2 shards, first m-2.safetensors")
	write("m-2.safetensors", "x")
	run(exitOK, "1 levels measured")
}
