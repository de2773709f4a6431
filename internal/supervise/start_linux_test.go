package supervise

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestExitIsKept(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec Spec
		want string
	}{
		{"zero", Spec{Argv: []string{"true"}}, "exit status 0"},
		{"code", Spec{Argv: []string{"sh", "-c", "exit 37"}}, "exit status 37"},
		{"killed", Spec{Argv: []string{"sh", "-c", "kill -KILL $$"}}, "killed by SIGKILL"},
		{"segfault", Spec{Argv: []string{"sh", "-c", "kill -SEGV $$"}}, "killed by SIGSEGV"},
		{"missing", Spec{Argv: []string{"/nowhere/python3"}}, "could not be started: start /nowhere/python3: "},
		{"not in PATH", Spec{Argv: []string{"no-such-program"}}, `could not be started: find "no-such-program": it is not in its PATH`},
		{"not executable", Spec{Argv: []string{plain}}, "permission denied"},
		{"no directory", Spec{Argv: []string{"true"}, Dir: "/nowhere"}, "the working directory /nowhere is not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.spec.ID, c.spec.Env = "x", testEnv()
			dir, _ := holdSpec(t, c.spec)
			s := ended(t, dir)
			if got := s.Exit.String(); !strings.Contains(got, c.want) || s.Phase != Exited || s.Killed {
				t.Errorf("got %q in %+v, want %q", got, s, c.want)
			}
			if again, err := Start(t.Context(), dir, c.spec); err != nil || again.Phase != Exited || again.Exit.String() != s.Exit.String() {
				t.Errorf("started again: %+v, %v; want the first exit", again, err)
			}
		})
	}
}

func TestCommandGetsExactlyWhatWasAsked(t *testing.T) {
	spec := Spec{ID: "x", Argv: []string{"sh", "-c", `env; ulimit -n; ls /proc/self/fd | tr '\n' ' '; echo; printf '%s|' "$@"; pwd`,
		"sh", "a b", "", `{"x": "$HOME"}`, "-é\n"},
		Env: []string{"PATH=" + os.Getenv("PATH"), "A=first", "B=1"}, Secrets: []string{"A=second"}, Nofile: 777}
	dir, _ := holdSpec(t, spec)
	ended(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, OutputFile))
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for _, want := range []string{"PATH=" + os.Getenv("PATH") + "\n", "A=second\n", "B=1\n", "\n777\n",
		"\n0 1 2 3 \n", // 3 is the directory that ls reads: no pipe, no lock was left open
		"a b||{\"x\": \"$HOME\"}|-é\n|" + dir + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the output:\n%s", want, got)
		}
	}
	for line := range strings.Lines(got[:strings.Index(got, "777")]) {
		// PWD and the like are set by the shell itself.
		if name, _, _ := strings.Cut(line, "="); !strings.Contains("PATH A B PWD OLDPWD SHLVL _", name) {
			t.Errorf("the command's environment has %q", line)
		}
	}
}

func TestSecretsNeverOnDisk(t *testing.T) {
	const secret = "hf_swordfish"
	dir, _ := holdSpec(t, Spec{ID: "x", Argv: []string{"sh", "-c", `[ "$TOKEN" = ` + secret[:3] + `"swordfish" ]`},
		Env: testEnv(), Secrets: []string{"TOKEN=" + secret}})
	if s := ended(t, dir); s.Exit.String() != "exit status 0" {
		t.Fatalf("the command did not get the secret: %s", s.Exit)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartIsIdempotent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "held")
	cleanUp(t, dir)
	spec := Spec{ID: "x", Argv: []string{"sh", "-c", "echo started; exec sleep 600"}, Env: testEnv()}
	states := make([]State, 8)
	var wg sync.WaitGroup
	for i := range states {
		wg.Go(func() {
			var err error
			if states[i], err = Start(t.Context(), dir, spec); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range states {
		if s.PID == 0 || s.PID != states[0].PID || s.Phase != Running || s.Since != states[0].Since {
			t.Errorf("one start gives %+v, another %+v", states[0], s)
		}
	}
	if got := lineOf(t, filepath.Join(dir, OutputFile)); got != "started" {
		t.Errorf("output %q: the command was not started exactly once", got)
	}
	spec.ID = "y"
	if _, err := Start(t.Context(), dir, spec); err == nil || !strings.Contains(err.Error(), `already holds "x"`) {
		t.Errorf("another id in the same directory: %v", err)
	}
}

// A server that runs on and keeps its stdout must not keep its starter.
func TestE03StartReturnsWhileTheServerHoldsStdout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "held")
	cleanUp(t, dir)
	// Also a descriptor that the starter was given by somebody careless.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `exec "$0" "$@" 9>&1`, os.Args[0], "supervise", "start", dir)
	request, _ := json.Marshal(StartRequest{Spec: Spec{ID: "x", Argv: []string{"sleep", "600"}, Env: testEnv()}})
	cmd.Stdin = bytes.NewReader(request)
	began := time.Now()
	out, err := cmd.CombinedOutput() // returns when the last holder of the pipe has closed it
	if took := time.Since(began); err != nil || took > 2*time.Second {
		t.Fatalf("after %v: %v\n%s", took, err, out)
	}
	var s State
	if err := json.Unmarshal(out, &s); err != nil || s.Phase != Running || !lives(s.PID) || s.Alive != 1 {
		t.Errorf("start wrote %s (%v)", out, err)
	}
}

// Whoever started it may be killed; the next finds it by its directory and
// ends it.
func TestE05SurvivesItsStarterKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "held")
	cleanUp(t, dir)
	starter := self(t.Context(), "start-and-hang", dir, "sleep", "600")
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { return look(t, dir).PID != 0 })
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	s := look(t, dir)
	if s.Phase != Running || s.Alive != 1 || !lives(s.PID) {
		t.Fatalf("after its starter: %+v", s)
	}
	out, err := self(t.Context(), "supervise", "stop", dir, "--grace", "5s").Output()
	var stopped State
	if err != nil || json.Unmarshal(out, &stopped) != nil || stopped.Exit.String() != "killed by SIGTERM" || lives(s.PID) {
		t.Errorf("stopped by another process: %s, %v", out, err)
	}
}

// At whatever instant a starter is killed, the next start finds or makes
// exactly one command.
func TestStarterKilledAtAnyInstant(t *testing.T) {
	for delay := time.Duration(0); delay < 60*time.Millisecond; delay += 6 * time.Millisecond {
		dir := filepath.Join(t.TempDir(), "held")
		cleanUp(t, dir)
		argv := []string{"sh", "-c", "echo started; exec sleep 600"}
		starter := self(t.Context(), append([]string{"start-and-hang", dir}, argv...)...)
		if err := starter.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay) // the instant is what is tested
		_ = starter.Process.Kill()
		_ = starter.Wait()
		s, err := Start(t.Context(), dir, Spec{ID: "x", Argv: argv, Env: testEnv()})
		if err != nil || s.Phase != Running {
			t.Fatalf("starter killed after %v: %+v, %v", delay, s, err)
		}
		if got := lineOf(t, filepath.Join(dir, OutputFile)); got != "started" {
			t.Errorf("starter killed after %v: output %q", delay, got)
		}
	}
}

func TestStarterKilledAfterSpec(t *testing.T) {
	dir := t.TempDir()
	cleanUp(t, dir)
	spec := Spec{ID: "x", Argv: []string{"sleep", "600"}, Env: testEnv()}
	if err := save(dir, specFile, spec); err != nil {
		t.Fatal(err)
	}
	if s := look(t, dir); s.Phase != Absent || s.ID != "x" {
		t.Errorf("with only a spec: %+v", s)
	}
	if s, err := Stop(t.Context(), dir, 0); err != nil || s.Phase != Absent {
		t.Errorf("stop with only a spec: %+v, %v", s, err)
	}
	if s, err := Start(t.Context(), dir, spec); err != nil || s.Phase != Running {
		t.Errorf("second start: %+v, %v", s, err)
	}
}
