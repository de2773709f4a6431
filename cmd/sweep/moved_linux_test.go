package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// away is a place whose nights run on another host: an sshd of the lab with a
// home of the test's own.
type away struct {
	place
	there  string // home over there
	config string // of ssh
	sshd   int    // pid
	port   string
	agent  string
}

const awayAlias = "gpu1"

// TestMoved does to moved nights what happens to them: over real SSH, with the
// files of the lab's first host. Each has its own sshd and home.
func TestMoved(t *testing.T) {
	inLab(t, "LAB_H0_KEY")
	agent := staticSweep(t)
	for name, test := range map[string]func(*testing.T, away){
		"whole": testMovedWhole, "json": testMovedJSON, "link dies": testMovedLinkDies, "runner dies": testMovedRunnerDies,
		"detach": testMovedDetach, "after level": testMovedAfterLevel, "interrupt": testMovedInterrupt, "leave": testMovedLeave, "booted": testMovedBooted,
		"secrets": testMovedSecrets, "busy": testMovedBusy, "refused": testMovedRefused, "full disk": testMovedFullDisk, "noexec": testMovedNoExec,
		"clean": testMovedClean, "hosts.yaml": testMovedHostsFile, "no link": testMovedNoLink, "sudo": testMovedSudo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newAway(t, agent))
		})
	}
}

func testMovedWhole(t *testing.T, a away) {
	code, text := a.code("run", a.file)
	has(t, text, "gpu1 (root@127.0.0.1:"+a.port+")", "with or without this terminal", "done: 8 levels measured", "best: ")
	if code != 0 {
		t.Errorf("code %d", code)
	}
	a.atHome()
	// Again: everything is reused over there, nothing is sent home twice.
	before := digests(t, filepath.Join(a.dir, "data/sweep/runs"))
	code, text = a.code("run", a.file)
	has(t, text, "0 levels measured, 8 reused")
	if after := digests(t, filepath.Join(a.dir, "data/sweep/runs")); code != 0 || len(after) != len(before) {
		t.Errorf("code %d; %d files after, %d before", code, len(after), len(before))
	}
}

func testMovedJSON(t *testing.T, a away) {
	c := a.command("run", "--json", a.file)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if string(out) != a.journal() {
		t.Errorf("the events differ from the journal:\n%s\n%s", out, a.journal())
	}
}

// The connections die six times, in the middle of whatever goes on.
func testMovedLinkDies(t *testing.T, a away) {
	c, said := a.begin("run", a.file)
	for _, word := range []string{`"night.start"`, `"ready"`, `"level.end"`, `"run.end"`, `"repeat":2`} {
		a.untilThere(word)
		a.cut(syscall.SIGKILL)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	for line := range strings.Lines(said.String()) {
		if strings.Count(said.String(), line) > 1 && strings.Contains(line, "output tok/s, TTFT") {
			t.Errorf("said twice: %s", line)
		}
	}
	a.atHome()
}

// SIGKILL for the runner, detached and attached: the server serves on, the same
// night goes on.
func testMovedRunnerDies(t *testing.T, a away) {
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "prompts: 24", "prompts: 120", 1))
	a.mustRun("run", "--detach", a.file)
	a.untilThere(`"level.progress"`)
	server := a.pids("sim")
	_ = syscall.Kill(a.runner(), syscall.SIGKILL)
	text := a.mustRun("status")
	has(t, text, "cut off", "killed by SIGKILL", "sweep attach")
	if now := a.pids("sim"); len(server) != 1 || len(now) != 1 || now[0] != server[0] {
		t.Errorf("servers %v before and %v after the runner died", server, now)
	}
	c, said := a.begin("attach", "short")
	a.until("it goes on", func() bool { return strings.Contains(said.String(), "its server serves on") })
	a.untilThere(`"run.end"`)
	_ = syscall.Kill(a.runner(), syscall.SIGKILL)
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	has(t, said.String(), "killed by SIGKILL", "it goes on; what was measured is not measured again", "done: ")
	a.atHome()
}

func testMovedDetach(t *testing.T, a away) {
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "prompts: 24", "prompts: 120", 1))
	code, text := a.code("run", "--detach", a.file)
	has(t, text, "the night runs on gpu1", "sweep attach 2", "sweep stop 2")
	if code != 0 {
		t.Errorf("code %d", code)
	}
	has(t, a.mustRun("status"), "-short · gpu1 · running · ")
	var list []nightStatus
	if err := json.Unmarshal([]byte(a.mustRun("status", "--json")), &list); err != nil || len(list) != 1 || list[0].State != stateRunning || list[0].Key == "" {
		t.Errorf("%v %+v", err, list)
	}
	c, said := a.begin("attach")
	a.until("it follows", func() bool { return strings.Contains(said.String(), "Ctrl-C only leaves") })
	_ = c.Process.Signal(os.Interrupt)
	if err := c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("attach after Ctrl-C: %v\n%s", err, said)
	}
	has(t, said.String(), "left; the night on gpu1 goes on")
	a.untilThere(`"night.end"`)
	a.until("it has ended", func() bool { return strings.Contains(a.mustRun("status"), "ended") })
	a.mustRun("attach", "short")
	a.atHome()
	has(t, a.mustRun("status"), "no night is under way")
	has(t, a.mustRun("attach"), "that night is over and its records are here")
}

func testMovedAfterLevel(t *testing.T, a away) {
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "prompts: 24", "prompts: 120", 1))
	a.mustRun("run", "--detach", a.file)
	a.untilThere(`"level":"c=8"`)
	text := a.mustRun("stop", "short", "--after-level")
	has(t, text, "was asked to stop: the level in flight comes to its end first", "it has ended")
	code, text := a.code("attach")
	if code != exitInterrupted {
		t.Errorf("code %d\n%s", code, text)
	}
	if n := len(a.measurements()); n != 2 {
		t.Errorf("%d measurements at home, want the 2 of the first run", n)
	}
	a.sameAsThere()
	has(t, a.journal(), `"phase":"asked"`)
	code, text = a.code("stop", "short")
	has(t, text, "is not running")
	if code != exitFailed {
		t.Errorf("stop of a night that is over: code %d", code)
	}
	a.mustRun("run", a.file)
	a.atHome()
}

func testMovedInterrupt(t *testing.T, a away) {
	c, said := a.begin("run", a.file)
	a.untilThere(`"ready"`)
	_ = c.Process.Signal(os.Interrupt)
	_ = c.Wait()
	if c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("code %d\n%s", c.ProcessState.ExitCode(), said)
	}
	has(t, said.String(), "the sweep on gpu1 is asked to end its server", "the host is clean")
	a.noneLeft("after Ctrl-C")
	a.sameAsThere()
	a.mustRun("run", a.file)
	a.atHome()
}

// A second Ctrl-C leaves at once, a hang-up leaves too, and the night over there
// does what it was told.
func testMovedLeave(t *testing.T, a away) {
	c, said := a.begin("run", a.file)
	a.untilThere(`"night.start"`)
	_ = c.Process.Signal(syscall.SIGHUP)
	_ = c.Wait()
	has(t, said.String(), "left; the night on gpu1 goes on")
	c, _ = a.begin("attach")
	a.untilThere(`"level.end"`)
	_ = c.Process.Kill()
	_ = c.Wait()
	a.mustRun("attach")
	a.atHome()

	a.write("night.yaml", strings.Replace(readAll(t, a.file), "seed: 1", "seed: 2", 1))
	c, said = a.begin("run", a.file)
	a.until("a server", func() bool { return strings.Contains(said.String(), "serving after") })
	a.cut(syscall.SIGSTOP) // so that the first one cannot be done before the second comes
	_ = c.Process.Signal(os.Interrupt)
	a.until("it was heard", func() bool { return strings.Contains(said.String(), "is asked to end") })
	_ = c.Process.Signal(os.Interrupt)
	_ = c.Wait()
	a.cut(syscall.SIGCONT)
	has(t, said.String(), "left at once; the night on gpu1 goes on, or ends if it was asked to", "sweep attach")
	code, text := a.code("attach")
	if code != exitOK && code != exitInterrupted {
		t.Errorf("code %d\n%s", code, text)
	}
}

// The host was booted anew: what is held there is of another boot. The secrets
// are needed again.
func testMovedBooted(t *testing.T, a away) {
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "server:\n", "server:\n  secrets: [LAB_TOKEN]\n", 1))
	a.env = append(a.env, "LAB_TOKEN=tok-1")
	a.mustRun("run", "--detach", a.file)
	a.untilThere(`"level.end"`)
	for _, word := range []string{"run", "supervise", "bench", "sim"} {
		for _, pid := range a.pids(word) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	files, _ := filepath.Glob(filepath.Join(a.there, ".local/state/sweep/*/*/held*/state.json"))
	more, _ := filepath.Glob(filepath.Join(a.there, ".local/state/sweep/instances/*/held/*/state.json"))
	for _, file := range append(files, more...) {
		text := regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAllString(readAll(t, file), `"boot":"00000000-0000-0000-0000-000000000000"`)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(filepath.Dir(file), "exit.json"))
	}
	has(t, a.mustRun("status"), "cut off", "the host was booted anew since")
	without := a
	without.env = a.env[:len(a.env)-1]
	code, text := without.code("attach")
	has(t, text, "booted anew", "LAB_TOKEN is not set in this environment")
	if code != exitUsage {
		t.Errorf("without the secret: code %d", code)
	}
	lock, err := os.OpenFile(filepath.Join(a.there, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	code, text = a.code("attach")
	has(t, text, "booted anew", "another sweep is running here", "its last start did not come to the night", "`sweep attach 2")
	if code != exitHost {
		t.Errorf("while another sweep runs there: code %d", code)
	}
	lock.Close()
	has(t, a.mustRun("attach"), "its last start did not come to the night", "done: ")
	a.atHome()
}

// Secrets are in the server's environment and nowhere else; the rest of the
// environment is bare, arguments arrive as they are.
func testMovedSecrets(t *testing.T, a away) {
	text := strings.Replace(readAll(t, a.file), "server:\n", "server:\n  secrets: [LAB_TOKEN]\n  env: {GREETING: \"it's $HOME \\\"x\\\" ü\"}\n", 1)
	a.write("night.yaml", strings.Replace(text, "model-path: sim/small-8b", `model-path: sim/small-8b, served-model-name: "a 'b' $(c) \\ü"`, 1))
	const secret = "s3cret with 'quotes' and $dollars"
	a.env = append(a.env, "LAB_TOKEN="+secret, "LOCAL_ONLY=1")
	a.mustRun("run", "--detach", a.file)
	a.untilThere(`"ready"`)
	servers := a.pids("sim")
	if len(servers) != 1 {
		t.Fatalf("servers %v", servers)
	}
	env := strings.Split(readAll(t, fmt.Sprintf("/proc/%d/environ", servers[0])), "\x00")
	argv := strings.Split(readAll(t, fmt.Sprintf("/proc/%d/cmdline", servers[0])), "\x00")
	runner := strings.Split(readAll(t, fmt.Sprintf("/proc/%d/environ", a.runner())), "\x00")
	has(t, strings.Join(env, "\n"), "LAB_TOKEN="+secret, `GREETING=it's $HOME "x" ü`)
	has(t, strings.Join(argv, "\n"), `a 'b' $(c) \ü`)
	has(t, strings.Join(runner, "\n"), "HOME="+a.there, "LAB_TOKEN="+secret)
	for _, pair := range append(env, runner...) {
		if strings.HasPrefix(pair, "LOCAL_ONLY") || strings.HasPrefix(pair, "SSH_") {
			t.Errorf("in the environment: %s", pair)
		}
	}
	_ = filepath.WalkDir(a.dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(file); bytes.Contains(text, []byte("s3cret")) {
				t.Errorf("the secret is in %s", file)
			}
		}
		return nil
	})
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range processes {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte("s3cret")) {
			t.Errorf("the secret is in an argv: %q", text)
		}
	}
	a.mustRun("attach")
	a.atHome()
}

func testMovedBusy(t *testing.T, a away) {
	a.mustRun("run", "--detach", a.file)
	code, text := a.code("run", a.file)
	has(t, text, "gpu1 is busy: this very sweep", "sweep attach 2", "sweep stop 2")
	if code != exitHost {
		t.Errorf("code %d", code)
	}
	if n := len(a.held()); n != 1 {
		t.Errorf("%d moved nights are held there, want 1", n)
	}
	// A sweep that takes the lock without being asked for its nights.
	a.mustRun("stop", "short")
	a.mustRun("status")
	lock, err := os.OpenFile(filepath.Join(a.there, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", a.file}, {"run", "--detach", a.file}} {
		code, text = a.code(args...)
		has(t, text, "another sweep is running here")
		if code != exitHost || len(a.held()) != 1 {
			t.Errorf("%v: code %d, held there %v", args, code, a.held())
		}
	}
}

// Errors of the way there: one sentence, code 3, nothing left.
func testMovedRefused(t *testing.T, a away) {
	good := readAll(t, a.config)
	stranger := filepath.Join(a.dir, "stranger")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger).CombinedOutput(); err != nil {
		t.Skipf("no ssh-keygen: %v %s", err, out)
	}
	known := readAll(t, filepath.Join(a.dir, "known_hosts"))
	for _, c := range []struct {
		name, config, known string
		want                []string
	}{
		{"key", strings.Replace(good, inLab(t, "LAB_H0_KEY"), stranger, 1), known, []string{"reach gpu1 ("}},
		{"port", strings.Replace(good, "Port "+a.port, fmt.Sprintf("Port %d", freePort(t)), 1), known, []string{"reach gpu1 (", "nothing listens on port"}},
		{"unknown host", good, "", []string{"--accept-new-host-key"}},
		{"changed host", good, strings.Fields(known)[0] + " " + strings.Join(strings.Fields(readAll(t, stranger+".pub"))[:2], " ") + "\n", []string{"reach gpu1 (", "known_hosts:1"}},
		{"no such name", "", known, []string{"reach gpu1"}},
	} {
		a.write("ssh_config", c.config)
		a.write("known_hosts", c.known)
		code, text := a.code("run", a.file)
		has(t, text, c.want...)
		if code != exitHost || strings.Count(strings.TrimSpace(text), "\n") > 0 {
			t.Errorf("%s: code %d\n%s", c.name, code, text)
		}
	}
	if _, err := os.Stat(filepath.Join(a.there, ".local/state/sweep/moved")); err == nil {
		t.Error("something is there")
	}
	a.write("ssh_config", good)
	a.write("known_hosts", "")
	has(t, a.mustRun("run", "--accept-new-host-key", "--detach", a.file), "the night runs on gpu1")
	a.mustRun("stop", "short")
}

// mounted is a small file system below the home over there.
func (a away) mounted(dir, options string) {
	a.t.Helper()
	path := filepath.Join(a.there, dir)
	if err := os.MkdirAll(path, 0o700); err != nil {
		a.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "sweep-test", path).CombinedOutput(); err != nil {
		a.t.Skipf("cannot mount: %v %s", err, out)
	}
	a.t.Cleanup(func() { _ = exec.Command("umount", "-l", path).Run() })
}

func testMovedFullDisk(t *testing.T, a away) {
	a.mounted(".cache", "size=4m")
	code, text := a.code("run", a.file)
	has(t, text, "put sweep on gpu1", ".cache/sweep/bin")
	if code != exitHost || len(a.held()) > 0 {
		t.Errorf("code %d, left there: %v\n%s", code, a.held(), text)
	}
	if left, _ := filepath.Glob(filepath.Join(a.there, ".cache/sweep/bin/*")); len(left) > 0 {
		t.Errorf("left in the cache: %v", left)
	}
}

func testMovedNoExec(t *testing.T, a away) {
	a.mounted(".cache", "size=64m,noexec")
	code, text := a.code("run", a.file)
	has(t, text, "may not be executed", "XDG_CACHE_HOME")
	if code != exitHost {
		t.Errorf("code %d\n%s", code, text)
	}
}

func testMovedClean(t *testing.T, a away) {
	code, text := a.code("clean", awayAlias)
	has(t, text, "nothing of sweep's is left on this host")
	if code != 0 {
		t.Errorf("code %d", code)
	}
	old := filepath.Join(a.there, ".cache/sweep/bin/sweep-0123456789abcdef")
	if err := os.WriteFile(old, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	young := old[:len(old)-1] + "0"
	if err := os.WriteFile(young, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-9 * 24 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	current, _ := filepath.Glob(filepath.Join(a.there, ".cache/sweep/bin/sweep-*"))
	for _, file := range current {
		if file != old && file != young {
			_ = os.Remove(file) // so that it is pushed again, and old ones are looked for
		}
	}
	a.mustRun("clean", awayAlias)
	if _, err := os.Stat(old); err == nil {
		t.Error("an old program is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a young program is gone")
	}
}

func testMovedHostsFile(t *testing.T, a away) {
	a.write("hosts.yaml", fmt.Sprintf("rtx6k: {address: \"127.0.0.1:%s\", user: root}\n", a.port))
	a.write("ssh_config", strings.Replace(strings.Replace(readAll(t, a.config), "Host gpu1", "Host 127.0.0.1", 1), " HostName 127.0.0.1\n", "", 1))
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "host: gpu1", "host: rtx6k", 1))
	has(t, a.mustRun("run", a.file), "rtx6k (root@127.0.0.1:"+a.port+")", "done: 8 levels measured")
	a.atHome()
	a.write("night.yaml", strings.Replace(readAll(t, a.file), "host: rtx6k", "host: rtx6", 1))
	code, text := a.code("run", a.file)
	has(t, text, "rtx6k")
	if code != exitHost {
		t.Errorf("code %d", code)
	}
}

// fakeSudo does what sudo does to the environment; there may be no sudo here.
const fakeSudo = `#!/bin/sh
[ "$1" = -n ] && shift
[ "$1" = -- ] && shift
echo "$1" >>%[1]s/sudo.log
exec env -i PATH="$PATH" HOME=/home/somebody XDG_DATA_HOME=%[1]s/.local/share XDG_STATE_HOME=%[1]s/.local/state XDG_CACHE_HOME=%[1]s/.cache SWEEP_LOCK=%[1]s/lock "$@"
`

func testMovedSudo(t *testing.T, a away) {
	if err := os.MkdirAll(filepath.Join(a.there, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.there, "bin/sudo"), fmt.Appendf(nil, fakeSudo, a.there), 0o755); err != nil {
		t.Fatal(err)
	}
	a.write("hosts.yaml", "gpu1: {sudo: true}\n")
	a.mustRun("run", "--detach", a.file)
	runner := readAll(t, fmt.Sprintf("/proc/%d/environ", a.runner()))
	has(t, strings.ReplaceAll(runner, "\x00", "\n"), "HOME=/root\n", "XDG_DATA_HOME="+a.there)
	has(t, a.mustRun("status"), "running")
	has(t, a.mustRun("attach"), "done: 8 levels measured")
	a.atHome()
	if readAll(t, filepath.Join(a.there, "sudo.log")) == "" {
		t.Error("sudo was not used")
	}
}

// The link does not come back: attach gives up, the night goes on.
func testMovedNoLink(t *testing.T, a away) {
	c, said := a.begin("run", "--patience", "1s", a.file)
	a.untilThere(`"night.start"`)
	_ = syscall.Kill(a.sshd, syscall.SIGSTOP) // no new connections
	a.cut(syscall.SIGKILL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() { _ = c.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	_ = syscall.Kill(a.sshd, syscall.SIGCONT)
	if c.ProcessState == nil || c.ProcessState.ExitCode() != exitHost {
		t.Fatalf("%v\n%s", c.ProcessState, said)
	}
	has(t, said.String(), "the night on gpu1 goes on: `sweep attach 2")
	a.mustRun("attach")
	a.atHome()
}
