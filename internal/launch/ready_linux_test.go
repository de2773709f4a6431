package launch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/supervise"
)

func TestA01HealthIsNotReady(t *testing.T) {
	t.Parallel()
	t.Run("503", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		s := g.start(t, g.spec(t, "generate 503\n"+serving+"seen /generate 3\ngenerate ok\nlog generates\n"))
		if _, err := s.WaitReady(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		until(t, s, "generates")
	})
	t.Run("hang", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		s := g.start(t, g.spec(t, "generate hang\n"+serving+"seen /generate 1\nsleep 400ms\ngenerate ok\n"))
		ready, err := s.WaitReady(t.Context(), nil)
		if err != nil || ready.FirstGenerationSeconds < 0.35 || ready.Seconds < ready.FirstGenerationSeconds {
			t.Errorf("ready after %g s, the first generation took %g s, %v", ready.Seconds, ready.FirstGenerationSeconds, err)
		}
	})
}

// TestA02ModelsIsNotReady: all the while /v1/models is 200, /health is 503; a
// request before its time would be answered with 500 and fail the start.
func TestA02ModelsIsNotReady(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	s := g.start(t, g.spec(t, "generate 500\n"+logUp+"listen\nseen /health 3\ngenerate ok\nhealth 200\n"))
	if _, err := s.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.Client().Models(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("models %v, %v", ids, err)
	}
	if e := hanging(t, logUp+"listen\n"); e.Cause.Code != sglang.CodeTimeout || e.Phase != sglang.PhaseWarmup {
		t.Errorf("got %v", e)
	}
}

func TestA07aSleepsForEver(t *testing.T) {
	t.Parallel()
	e := silent(t, "log \x1b[31mone\n")
	if e.Cause.Code != sglang.CodeStalled || e.Phase != sglang.PhaseProcess || e.Exit != nil || e.Cause.Line != "waiting" {
		t.Errorf("got %v", e)
	}
	if got := strings.Join(e.Excerpt, "|"); got != "one|waiting" {
		t.Errorf("excerpt %s", got)
	}
}

func TestA07bExitEndsTheWait(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	e := startError(t, g.start(t, g.spec(t, logWeights+"sleep 300ms\nraw last words\nexit 1\n")))
	told := time.Now()
	if e.Exit == nil || e.Exit.Code == nil || *e.Exit.Code != 1 || e.Phase != sglang.PhaseWeights {
		t.Fatalf("got %v", e)
	}
	if !strings.HasPrefix(e.Excerpt[len(e.Excerpt)-1], "last words") { // under -cover more follows on the line
		t.Errorf("the last line is lost: %q", e.Excerpt)
	}
	if late := told.Sub(e.Exit.At); late > 3*time.Second { // a poll is 200 ms; the rest is for a busy machine
		t.Errorf("told %s after the exit", late)
	}
	if text := e.Error(); !strings.Contains(text, "in phase weights") || !strings.Contains(text, "exit 1") {
		t.Errorf("error: %s", text)
	}
}

// TestA08SlowButGrowing: longer than the stall budget in all, shorter in each
// gap.
func TestA08SlowButGrowing(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	s := g.start(t, g.spec(t, logInit+"log waiting\n"+strings.Repeat("sleep 250ms\nlog compiling\n", 8)+serving))
	until(t, s, "waiting")
	s.spec.Ready.Stall = 1500 * time.Millisecond
	if _, err := s.WaitReady(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestA17HangAfterInit(t *testing.T) {
	t.Parallel()
	e := silent(t, logInit)
	if text := e.Error(); e.Phase != sglang.PhaseInit || !strings.Contains(text, "in phase init") || !strings.Contains(text, "NCCL_P2P_DISABLE=1") {
		t.Errorf("got %s", text)
	}
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	kernel := "log [2026-08-07 03:01:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n" +
		"log RuntimeError: Assertion error (attention.hpp:219): Unsupported architecture\n"
	rows := []struct {
		name, script string
		change       func(*ServerSpec)
		code         string
		class        sglang.Class
		phase        sglang.PhaseName
	}{
		{"A15 unknown flag", "log usage: launch_server.py [-h]\nlog launch_server.py: error: unrecognized arguments: --reasoning_parser glm45\nexit 2", nil, "unknown-flag", sglang.Config, sglang.PhaseProcess},
		{"exit 2 with usage", "log usage: launch_server.py [-h]\nexit 2", nil, sglang.CodeArguments, sglang.Config, sglang.PhaseProcess},
		{"exit 0", "log done\nexit 0", nil, sglang.CodeExited, sglang.Config, sglang.PhaseProcess},
		{"137 is no proof", logWeights + "exit 137", nil, sglang.CodeKilled, sglang.Transient, sglang.PhaseWeights},
		{"no such program", "", func(s *ServerSpec) { s.Argv = append([]string{"/no/such/program"}, s.Argv[1:]...) }, sglang.CodeNotStarted, sglang.Config, sglang.PhaseProcess},
		{"A18 crash at the first request", "generate hang\n" + serving + "seen /generate 1\n" + kernel + "exit 1", nil, "unsupported-kernel", sglang.Config, sglang.PhaseServing},
		{"A18 lives on", "generate 500\n" + serving, nil, sglang.CodeGeneration, sglang.Config, sglang.PhaseServing},
		{"A18 lives on and says why", "generate 500\n" + serving + kernel, nil, "unsupported-kernel", sglang.Config, sglang.PhaseServing},
		{"abort", "generate abort\n" + serving, nil, sglang.CodeGeneration, sglang.Config, sglang.PhaseServing},
		{"connection broken again and again", "generate drop\n" + serving, nil, sglang.CodeGeneration, sglang.Config, sglang.PhaseServing},
		{"A13 another port", `info {"port": 1}` + "\n" + serving, nil, sglang.CodeForeign, sglang.Transient, sglang.PhaseServing},
		{"A13 another model", `info {"model_path": "/models/other"}` + "\n" + serving, nil, sglang.CodeForeign, sglang.Transient, sglang.PhaseServing},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, row.script, row.change)
			if e.Cause.Code != row.code || e.Cause.Class != row.class || e.Phase != row.phase {
				t.Errorf("%s, class %s, in %s; want %s, %s, %s\n%v", e.Cause.Code, e.Cause.Class, e.Phase, row.code, row.class, row.phase, e)
			}
			if e.Cause.Hint == "" || !strings.Contains(e.Error(), e.Cause.Hint) {
				t.Errorf("says not what to do: %v", e)
			}
		})
	}
}

func TestHangs(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, script, code string
		class              sglang.Class
		phase              sglang.PhaseName
	}{
		{"generation hangs, nothing logged", "generate hang\nlisten\nhealth 200\n", sglang.CodeTimeout, sglang.Config, sglang.PhaseWarmup},
		{"another server answers while ours loads", logWeights + "listen\nhealth 200\n", sglang.CodeForeign, sglang.Transient, sglang.PhaseWeights},
		{"silent after a reason", logWeights + "log torch.OutOfMemoryError: CUDA out of memory.\n", "cuda-oom", sglang.Config, sglang.PhaseWeights},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e := hanging(t, row.script)
			if e.Cause.Code != row.code || e.Cause.Class != row.class || e.Phase != row.phase || e.Exit != nil {
				t.Errorf("%s, class %s, in %s; want %s, %s, %s\n%v", e.Cause.Code, e.Cause.Class, e.Phase, row.code, row.class, row.phase, e)
			}
		})
	}
}

// TestA13BindErrorOfOurs: a port that was taken after the start was looked at.
func TestA13BindErrorOfOurs(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, logLoaded+"wait taken\nlisten\n")
	s := g.start(t, spec)
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(spec.Port))
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })}
	defer other.Close()
	go func() { _ = other.Serve(l) }()
	g.allow(t, "taken")
	if e := startError(t, s); e.Cause.Code != "port-in-use" || e.Cause.Class != sglang.Transient {
		t.Errorf("got %v", e)
	}
}

func TestServerInfoHangsIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, info := range []string{"hang", "404"} {
		t.Run(info, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			ready, err := g.start(t, g.spec(t, "info "+info+"\n"+serving)).WaitReady(t.Context(), nil)
			if err != nil || ready.Resolved != nil {
				t.Errorf("got %+v, %v", ready.Resolved, err)
			}
		})
	}
}

func TestWaitReadyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	s := g.start(t, g.spec(t, "log waiting"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.WaitReady(ctx, nil)
	var failed *StartError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	if alive, _, err := s.Alive(t.Context()); !alive || err != nil {
		t.Errorf("waiting stopped it: alive %t, %v", alive, err)
	}
}

// shelf is a held process that says what a test puts there: an instance that
// cannot be reached, a supervisor that was killed.
type shelf struct {
	state supervise.State
	fails atomic.Int64 // so many looks fail
}

var errAway = errors.New("the daemon is away")

func (f *shelf) look() error {
	if f.fails.Add(-1) >= 0 {
		return errAway
	}
	return nil
}

func (f *shelf) State(context.Context) (supervise.State, error) { return f.state, f.look() }
func (f *shelf) Exit(context.Context) (*supervise.Exit, error)  { return f.state.Exit, f.look() }
func (f *shelf) Tail(context.Context, int64) ([]byte, error)    { return nil, f.look() }
func (f *shelf) Stop(context.Context, time.Duration) (supervise.State, error) {
	return f.state, f.look()
}

func onShelf(f *shelf, port int) *Server {
	s := newServer(f, reachHost{"127.0.0.1"}, "127.0.0.1", ServerSpec{HoldID: "x", Port: port, Ready: Budget{Timeout: 500 * time.Millisecond, Stall: time.Minute}}, time.Now(), false)
	s.pace.poll, s.pace.lost, s.pace.closed = 5*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond
	return s
}

func TestSupervisorKilled(t *testing.T) {
	e := startError(t, onShelf(&shelf{state: supervise.State{Phase: supervise.Lost}}, freePort(t)))
	if e.Cause.Code != sglang.CodeUnknown || e.Exit == nil || !strings.Contains(e.Error(), "end unknown") {
		t.Errorf("got %v", e)
	}
	// Its tree may serve on: then only the budget ends the wait.
	e = startError(t, onShelf(&shelf{state: supervise.State{Phase: supervise.Orphaned, Alive: 3}}, freePort(t)))
	if e.Cause.Code != sglang.CodeTimeout || e.Exit != nil {
		t.Errorf("got %v", e)
	}
}

func TestInstanceAwayForAWhile(t *testing.T) {
	running := supervise.State{Phase: supervise.Running}
	f := &shelf{state: running}
	f.fails.Store(5)
	if e := startError(t, onShelf(f, freePort(t))); e.Cause.Code != sglang.CodeTimeout {
		t.Errorf("a short absence: %v", e)
	}
	f = &shelf{state: running}
	f.fails.Store(1 << 40)
	_, err := onShelf(f, freePort(t)).WaitReady(t.Context(), nil)
	var failed *StartError
	if !errors.Is(err, errAway) || errors.As(err, &failed) {
		t.Errorf("a long absence: %v", err)
	}
	if report, err := onShelf(f, freePort(t)).Stop(t.Context()); !errors.Is(err, errAway) || report.Clean {
		t.Errorf("stop of what cannot be reached: %+v, %v", report, err)
	}
}

func TestForeignTo(t *testing.T) {
	spec := ServerSpec{Port: 30001, Argv: []string{"python3", "--model-path=org/GLM-5", "--tp-size", "8", "--random-seed", "1", "--random-seed", "7", "--served-model-name", "glm"}}
	rows := []struct {
		name string
		r    *sglang.Resolved
		want string
	}{
		{"nothing is known", nil, ""},
		{"nothing is said", &sglang.Resolved{}, ""},
		{"ours", &sglang.Resolved{ModelPath: "org/GLM-5", Args: map[string]any{"port": 30001.0, "tp_size": 8.0, "random_seed": 7.0, "served_model_name": "glm", "pp_size": 2.0}}, ""},
		{"the hub's directory", &sglang.Resolved{ModelPath: "/root/.cache/huggingface/hub/models--org--GLM-5/snapshots/ab12"}, ""},
		{"a local copy", &sglang.Resolved{ModelPath: "/models/GLM-5/"}, ""},
		{"port", &sglang.Resolved{Args: map[string]any{"port": 30000.0}}, "its port is 30000"},
		{"model", &sglang.Resolved{ModelPath: "org/GLM-4"}, "serves model org/GLM-4, not org/GLM-5"},
		{"split", &sglang.Resolved{Args: map[string]any{"tp_size": 4.0}}, "has tp_size 4, not 8"},
		{"seed", &sglang.Resolved{Args: map[string]any{"random_seed": 1.0}}, "has random_seed 1, not 7"},
	}
	for _, row := range rows {
		got := foreignTo(spec, row.r)
		if row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
