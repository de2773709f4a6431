package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func newAway(t *testing.T, agent string, setEnv ...string) away {
	t.Helper()
	a := away{place: newPlace(t, "host: "+awayAlias+"\n"+shortNight), agent: agent}
	a.there = filepath.Join(a.dir, "there")
	if err := os.MkdirAll(a.there, 0o700); err != nil {
		t.Fatal(err)
	}
	a.port = fmt.Sprint(freePort(t))
	a.config = filepath.Join(a.dir, "ssh_config")
	a.write("known_hosts", regexp.MustCompile(`^\S+`).ReplaceAllString(readAll(t, inLab(t, "LAB_H0_KNOWN_HOSTS")), "[127.0.0.1]:"+a.port))
	a.write("ssh_config", fmt.Sprintf("Host %s\n HostName 127.0.0.1\n Port %s\n User root\n IdentityFile %s\n IdentitiesOnly yes\n UserKnownHostsFile %s\n ConnectTimeout 3\n ServerAliveInterval 1\n ServerAliveCountMax 3\n",
		awayAlias, a.port, inLab(t, "LAB_H0_KEY"), filepath.Join(a.dir, "known_hosts")))
	env := append([]string{"HOME=" + a.there, "SWEEP_LOCK=" + filepath.Join(a.there, "lock"), "GREETING='a b'"}, setEnv...)
	conf := readAll(t, filepath.Join(filepath.Dir(inLab(t, "LAB_H0_KEY")), "sshd_config"))
	conf = regexp.MustCompile(`(?m)^Port .*`).ReplaceAllString(conf, "Port "+a.port)
	conf = regexp.MustCompile(`(?m)^PidFile .*`).ReplaceAllString(conf, "PidFile none")
	conf = regexp.MustCompile(`(?m)^SetEnv .*`).ReplaceAllString(conf, "SetEnv PATH="+filepath.Join(a.there, "bin")+":"+inLab(t, "LAB_H0_BIN")+":/usr/bin:/bin "+strings.Join(env, " "))
	a.write("sshd_config", conf)
	a.startSSHD()
	a.env = []string{"SWEEP_SSH_CONFIG=" + a.config, "SWEEP_AGENT=" + agent}
	return a
}

// startSSHD starts the listener and waits for its greeting.
func (a *away) startSSHD() {
	a.t.Helper()
	c := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(a.dir, "sshd_config"))
	log, err := os.OpenFile(filepath.Join(a.dir, "sshd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		a.t.Fatal(err)
	}
	defer log.Close()
	c.Stderr = log
	if err := c.Start(); err != nil {
		a.t.Skipf("no sshd: %v", err)
	}
	a.sshd = c.Process.Pid
	gone := make(chan struct{})
	go func() { _ = c.Wait(); close(gone) }()
	a.t.Cleanup(func() {
		a.cut(syscall.SIGKILL)
		_ = c.Process.Kill()
		<-gone
	})
	a.until("sshd listens", func() bool { return strings.Contains(readAll(a.t, filepath.Join(a.dir, "sshd.log")), "listening on") })
}

func readAll(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (a away) write(name, text string) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// cut sends a signal to what serves open connections.
func (a away) cut(sig syscall.Signal) (hit int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", a.sshd))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(word, &pid); err == nil && syscall.Kill(pid, sig) == nil {
				hit++
			}
		}
	}
	return hit
}

func (a away) until(what string, done func() bool) {
	a.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.t.Fatalf("after a minute: not %s", what)
		}
	}
}

// output is what a command says while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// begin starts a command whose output can be looked at.
func (a away) begin(args ...string) (*exec.Cmd, *output) {
	a.t.Helper()
	c, said := a.command(args...), &output{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		a.t.Fatal(err)
	}
	return c, said
}

// code runs a command to its end.
func (a away) code(args ...string) (int, string) {
	c := a.command(args...)
	out, _ := c.CombinedOutput()
	return c.ProcessState.ExitCode(), string(out)
}

// journalThere is the newest journal on the host.
func (a away) journalThere() string {
	paths, _ := filepath.Glob(filepath.Join(a.there, ".local/share/sweep/nights/*/events.jsonl"))
	if len(paths) == 0 {
		return ""
	}
	text, _ := os.ReadFile(paths[len(paths)-1])
	return string(text)
}

func (a away) untilThere(word string) {
	a.t.Helper()
	a.until("in the journal there: "+word, func() bool { return strings.Contains(a.journalThere(), word) })
}

// held is what the host keeps of moved nights.
func (a away) held() []string {
	found, _ := filepath.Glob(filepath.Join(a.there, ".local/state/sweep/moved/*"))
	return found
}

// runner is the pid of the sweep that runs the night there.
func (a away) runner() int {
	a.t.Helper()
	files, _ := filepath.Glob(filepath.Join(a.there, ".local/state/sweep/moved/*/held-*/state.json"))
	if len(files) == 0 {
		a.t.Fatal("no night is held there")
	}
	var s struct{ Command struct{ PID int } }
	if err := json.Unmarshal([]byte(readAll(a.t, files[len(files)-1])), &s); err != nil {
		a.t.Fatal(err)
	}
	return s.Command.PID
}

// atHome checks that every measurement of the night is whole, there once, and
// here as it is there; and that nothing is left of the move.
func (a away) atHome() {
	a.t.Helper()
	a.complete()
	a.sameAsThere()
	if left := a.held(); len(left) > 0 {
		a.t.Errorf("left over there: %v", left)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "data/sweep/.incoming")); err == nil {
		a.t.Error("there is something on its way home still")
	}
}

func (a away) sameAsThere() {
	a.t.Helper()
	here, there := digests(a.t, filepath.Join(a.dir, "data/sweep")), digests(a.t, filepath.Join(a.there, ".local/share/sweep"))
	if len(there) == 0 {
		a.t.Error("there are no records on the host")
	}
	for name, sum := range there {
		if here[name] != sum {
			a.t.Errorf("%s is %.8s here and %.8s there", name, here[name], sum)
		}
	}
}

func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(strings.TrimPrefix(file, dir), "/.") {
			f, openErr := os.Open(file)
			if openErr != nil {
				return openErr
			}
			defer f.Close()
			sum := sha256.New()
			_, _ = io.Copy(sum, f)
			found[strings.TrimPrefix(file, dir)] = fmt.Sprintf("%x", sum.Sum(nil))
		}
		return nil
	})
	return found
}

func has(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not said:\n%s", word, text)
		}
	}
}
