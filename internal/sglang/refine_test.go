package sglang

import (
	"strings"
	"testing"
)

func TestRefine(t *testing.T) {
	code := func(n int) *int { return &n }
	yes, no := true, false
	told := func(code string, class Class) *Cause {
		return &Cause{Code: code, Class: class, Phase: PhaseWeights, Line: "told", Hint: "do"}
	}
	rows := []struct {
		name  string
		cause *Cause
		exit  ExitInfo
		code  string
		class Class
	}{
		{"a reason in the log stands against SIGKILL", told("cuda-oom", Config), ExitInfo{Signal: "SIGKILL", Phase: PhaseWeights}, "cuda-oom", Config},
		{"137 alone is no proof of the memory killer", nil, ExitInfo{Code: code(137), Phase: PhaseWeights}, CodeKilled, Transient},
		{"SIGKILL alone neither", nil, ExitInfo{Signal: "SIGKILL", OOMKilled: &no, Phase: PhaseWeights}, CodeKilled, Transient},
		{"the kernel's counter is", nil, ExitInfo{Signal: "SIGKILL", OOMKilled: &yes, Phase: PhaseWeights}, CodeOOMKilled, Config},
		{"and explains a killed child", told("child-killed", Transient), ExitInfo{Signal: "SIGKILL", OOMKilled: &yes, Phase: PhaseServing}, CodeOOMKilled, Config},
		{"but no CUDA error", told("illegal-access", Serving), ExitInfo{Signal: "SIGKILL", OOMKilled: &yes}, "illegal-access", Serving},
		{"under load it is worth another attempt", nil, ExitInfo{Signal: "SIGKILL", OOMKilled: &yes, Phase: PhaseServing}, CodeOOMKilled, Serving},
		{"exit 2 before any rank is argparse", nil, ExitInfo{Code: code(2), Phase: PhaseProcess}, CodeArguments, Config},
		{"even when nothing was logged", nil, ExitInfo{Code: code(2)}, CodeArguments, Config},
		{"exit 2 later is not", nil, ExitInfo{Code: code(2), Phase: PhaseGraphs}, CodeCrashed, Transient},
		{"exit 0 is a failure too", nil, ExitInfo{Code: code(0), Phase: PhaseProcess}, CodeExited, Config},
		{"no such program", nil, ExitInfo{Error: "exec: no such file", Phase: PhaseProcess}, CodeNotStarted, Config},
		{"no such program, says a shell", nil, ExitInfo{Code: code(127), Phase: PhaseProcess}, CodeNotStarted, Config},
		{"a segmentation fault", nil, ExitInfo{Signal: "SIGSEGV", Phase: PhaseGraphs}, CodeCrashed, Transient},
		{"under load", nil, ExitInfo{Signal: "SIGSEGV", Phase: PhaseServing}, CodeCrashed, Serving},
		{"nothing is known", nil, ExitInfo{}, CodeUnknown, Transient},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got := Refine(row.cause, row.exit)
			if got.Code != row.code || got.Class != row.class {
				t.Errorf("%s, class %s; want %s, %s", got.Code, got.Class, row.code, row.class)
			}
			if got.Hint == "" || got.Phase == "" && row.cause == nil {
				t.Errorf("tells too little: %+v", got)
			}
		})
	}
	// Usage without an error line, as a wrapper may print it.
	r := read([]byte("usage: launch_server.py [-h]\n"))
	if got := Refine(r.Cause(), ExitInfo{Code: code(2), Phase: PhaseProcess}); got.Code != CodeArguments || got.Class != Config {
		t.Errorf("usage and exit 2: %+v", got)
	}
}

func TestA17HangNamesInitAndP2P(t *testing.T) {
	r := read(readLog(t, "A17-hang-after-init"))
	phase, _ := r.Current()
	c := Hang(CodeStalled, phase, r.Last())
	if c.Phase != PhaseInit || !strings.Contains(c.Hint, "NCCL_P2P_DISABLE=1") || !strings.Contains(c.Line, "Init torch distributed ends") {
		t.Errorf("got %+v", c)
	}
}

func TestA23SilenceBeforeTheFirstRankSuggestsTheLock(t *testing.T) {
	r := read(readLog(t, "A23-stale-lock"))
	c := Hang(CodeStalled, PhaseProcess, r.Last())
	if !strings.Contains(c.Line, ".locks/models--x/abc.lock") || !strings.Contains(c.Hint, "HF_HUB_OFFLINE") {
		t.Errorf("got %+v", c)
	}
}

// TestTables: every code has a class and a hint, every silent phase one too.
func TestTables(t *testing.T) {
	for _, s := range signatures {
		if s.code == "" || s.class == "" || s.hint == "" || len(s.any) == 0 {
			t.Errorf("signature %q is incomplete", s.code)
		}
	}
	for code, u := range untold {
		if u.class == "" || u.hint == "" {
			t.Errorf("code %q is incomplete", code)
		}
	}
	for p := range silences {
		if order(p) < 0 || Hang(CodeStalled, p, "").Hint != silences[p] {
			t.Errorf("silence of %q is not told", p)
		}
	}
	if c := NewCause("no such code", PhaseInit, "x\x1b[0m"); c.Class != Transient || c.Line != "x" {
		t.Errorf("got %+v", c)
	}
	for _, row := range []struct {
		exit ExitInfo
		want string
	}{{ExitInfo{Error: "x"}, "could not be started"}, {ExitInfo{Code: new(2)}, "exit 2"}, {ExitInfo{Signal: "SIGKILL"}, "SIGKILL"}, {ExitInfo{}, "end unknown"}} {
		if got := row.exit.String(); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

// TestA18AtStart: what fails before anybody was served failed at the start,
// whatever the server said of itself.
func TestA18AtStart(t *testing.T) {
	for log, want := range map[string]Class{
		"A18-unsupported-arch":    Config,
		"scheduler-crash-unknown": Config, // a KeyError comes again
		"illegal-access":          Serving,
		"child-crashed-serving":   Transient,
		"gpu-lost":                Host,
		"kv-too-small":            Config, // not in the phase serving: as it is
	} {
		c := *read(readLog(t, log)).Cause()
		if got := AtStart(c); got.Class != want || got.Code != c.Code {
			t.Errorf("%s: class %s, want %s", log, got.Class, want)
		}
	}
	if got := AtStart(Refine(nil, ExitInfo{Code: new(0), Phase: PhaseServing})); got.Class != Config {
		t.Errorf("exit 0: class %s", got.Class)
	}
}
