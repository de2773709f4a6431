package launch

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sweep/internal/sglang"
)

// stage is a place to start fake servers in.
type stage struct {
	rt Runtime
	in Instance
}

func newStage(t *testing.T) stage {
	t.Helper()
	rt := NewProcess(t.TempDir(), t.TempDir())
	in, err := rt.Create(t.Context(), InstanceSpec{Name: "server"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Destroy(context.WithoutCancel(t.Context()), in); err != nil {
			t.Error(err)
		}
	})
	return stage{rt, in}
}

// spec asks for a fake server with this script.
func (g stage) spec(t *testing.T, script string) ServerSpec {
	t.Helper()
	port := freePort(t)
	return ServerSpec{HoldID: "server-1", Port: port, Grace: 10 * time.Second,
		Argv:  []string{g.in.Bin, "-test.run=^TestFakeServer$", "--", "--model-path", "/models/m", "--port", strconv.Itoa(port)},
		Env:   []string{fakeEnv + "=" + script},
		Ready: Budget{Timeout: time.Minute, Stall: 30 * time.Second}}
}

// start starts it and shortens what a test need not wait for.
func (g stage) start(t *testing.T, spec ServerSpec) *Server {
	t.Helper()
	s, err := StartServer(t.Context(), g.rt, g.in, spec)
	if err != nil {
		t.Fatal(err)
	}
	s.pace.settle, s.pace.info, s.pace.closed = 500*time.Millisecond, 500*time.Millisecond, 2*time.Second
	return s
}

// allow lets a fake server go on from its step "wait NAME".
func (g stage) allow(t *testing.T, name string) {
	t.Helper()
	dir := path.Join(g.in.Dir, heldDir, "server-1")
	if err := g.rt.Files(g.in).Put(t.Context(), path.Join(dir, name), strings.NewReader(""), 0o600); err != nil {
		t.Error(err)
	}
}

// until reads the server's log until it holds this line.
func until(t *testing.T, s *Server, want string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err := s.ReadLog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(s.log.Excerpt(100), want) {
			return
		}
	}
	t.Fatalf("the log never held %q", want)
}

// failure starts a server that must not come up.
func failure(t *testing.T, script string, change func(*ServerSpec)) *StartError {
	t.Helper()
	g := newStage(t)
	spec := g.spec(t, script)
	if change != nil {
		change(&spec)
	}
	return startError(t, g.start(t, spec))
}

// hanging starts a server that hangs after its last line "waiting", and cuts
// the budget short from there.
func hanging(t *testing.T, script string) *StartError {
	t.Helper()
	g := newStage(t)
	s := g.start(t, g.spec(t, script+"log waiting\n"))
	until(t, s, "waiting")
	s.spec.Ready.Timeout = time.Since(s.started) + time.Second
	return startError(t, s)
}

// silent is hanging with a stall budget.
func silent(t *testing.T, script string) *StartError {
	t.Helper()
	g := newStage(t)
	s := g.start(t, g.spec(t, script+"log waiting\n"))
	until(t, s, "waiting")
	s.spec.Ready.Stall = 300 * time.Millisecond
	return startError(t, s)
}

func startError(t *testing.T, s *Server) *StartError {
	t.Helper()
	_, err := s.WaitReady(t.Context(), nil)
	var failed *StartError
	if !errors.As(err, &failed) {
		t.Fatalf("not a StartError: %v", err)
	}
	for _, text := range append(failed.Excerpt, failed.Error()) {
		if text != sglang.Plain(text) {
			t.Errorf("unsafe to show: %q", text)
		}
	}
	return failed
}

func TestServerLife(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, logWeights+"raw Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:18<00:18,  9.00s/it]\nwait half\nraw \r\n"+
		strings.TrimPrefix(logUp, logWeights)+"listen\nseen /health 2\nhealth 200\n"+logFired)
	s := g.start(t, spec)
	var seen []string
	ready, err := s.WaitReady(t.Context(), func(p Progress) {
		text := string(p.Phase)
		if p.Fraction != nil {
			text += " " + strconv.FormatFloat(*p.Fraction, 'f', -1, 64)
			g.allow(t, "half")
		}
		seen = append(seen, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(seen, ", "); !strings.Contains(got, "weights 0.5") || !strings.HasSuffix(got, "serving") {
		t.Errorf("progress: %s", got)
	}
	var phases []string
	for _, p := range ready.Phases {
		phases = append(phases, string(p.Name))
	}
	if got := strings.Join(phases, " "); got != "process init weights kv-cache http warmup serving" {
		t.Errorf("phases: %s", got)
	}
	if ready.FirstGenerationSeconds <= 0 || ready.FirstGenerationSeconds > ready.Seconds || ready.Reattached {
		t.Errorf("got %+v", ready)
	}
	if r := ready.Resolved; r == nil || r.ModelPath != "/models/m" || r.Version != "0.5.17" || r.Args["api_key"] != nil {
		t.Errorf("resolved %+v", ready.Resolved)
	}
	if alive, exit, err := s.Alive(t.Context()); !alive || exit != nil || err != nil {
		t.Errorf("alive %t, exit %v, %v", alive, exit, err)
	}
	var log bytes.Buffer
	at, err := s.CopyLog(t.Context(), &log, 0)
	if err != nil || at != int64(log.Len()) || !strings.Contains(log.String(), "fired up") {
		t.Errorf("copied %d of %d bytes, %v", at, log.Len(), err)
	}
	if again, err := s.CopyLog(t.Context(), &log, at); err != nil || again != at {
		t.Errorf("copied from %d to %d, %v", at, again, err)
	}

	report, err := s.Stop(t.Context())
	if err != nil || !report.Clean || report.Killed || len(report.Left) > 0 || report.Seconds <= 0 {
		t.Errorf("stop: %+v, %v", report, err)
	}
	if alive, exit, err := s.Alive(t.Context()); alive || exit == nil || exit.Signal != "SIGTERM" || err != nil {
		t.Errorf("after the stop: alive %t, exit %v, %v", alive, exit, err)
	}
	if open, err := dialPort(t.Context(), g.in.Address, spec.Port); open || err != nil {
		t.Errorf("after the stop: port open %t, %v", open, err)
	}
	if report, err := s.Stop(t.Context()); err != nil || !report.Clean {
		t.Errorf("a second stop: %+v, %v", report, err)
	}
}

func TestStopKillsWhatIgnoresTERM(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, "deaf\n"+serving)
	spec.Grace = 300 * time.Millisecond
	s := g.start(t, spec)
	if _, err := s.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if report, err := s.Stop(t.Context()); err != nil || !report.Clean || !report.Killed {
		t.Errorf("stop: %+v, %v", report, err)
	}
}

// TestStopTellsOfAForeignPort: a port that answers to the end is not clean.
func TestStopTellsOfAForeignPort(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, "log here")
	s := g.start(t, spec)
	s.pace.closed = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(spec.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	report, err := s.Stop(t.Context())
	if err != nil || report.Clean || len(report.Left) != 1 || !strings.Contains(report.Left[0], "pid "+strconv.Itoa(os.Getpid())) {
		t.Errorf("stop: %+v, %v", report, err)
	}
}

func TestReattach(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, serving)
	first := g.start(t, spec)
	if _, err := first.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	second := g.start(t, spec) // the port is taken, by this very server
	if !second.Reattached() || first.Reattached() {
		t.Fatal("not re-attached")
	}
	ready, err := second.WaitReady(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !ready.Reattached || len(ready.Phases) != 7 || ready.Seconds < 0 {
		t.Errorf("got %+v", ready)
	}
	if d := second.Started().Sub(first.Started()).Abs(); d > 5*time.Second {
		t.Errorf("started %s and %s", first.Started(), second.Started())
	}
	if report, err := second.Stop(t.Context()); err != nil || !report.Clean {
		t.Errorf("stop: %+v, %v", report, err)
	}
	// What ended is found as it ended, not started again.
	if e := startError(t, g.start(t, spec)); e.Exit == nil || e.Exit.Signal != "SIGTERM" {
		t.Errorf("got %v", e)
	}
}

func TestA13PortTakenBeforeTheStart(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	spec := g.spec(t, serving)
	// On another address of this machine, which a server on 0.0.0.0 would meet.
	l, err := net.Listen("tcp", "127.0.0.2:"+strconv.Itoa(spec.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = StartServer(t.Context(), g.rt, g.in, spec)
	var failed *StartError
	if !errors.As(err, &failed) || failed.Cause.Code != sglang.CodePortTaken || failed.Cause.Class != sglang.Transient {
		t.Fatalf("got %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "pid "+strconv.Itoa(os.Getpid())+" (") || !strings.Contains(text, strconv.Itoa(spec.Port)) {
		t.Errorf("the holder is not named: %s", text)
	}
	if _, state, err := Lookup(t.Context(), g.rt, g.in, spec.HoldID); err != nil || state.Phase != "absent" {
		t.Errorf("something was started: %+v, %v", state, err)
	}
}

func TestShortCommandHidesWhatFollows(t *testing.T) {
	for _, row := range []struct {
		argv []string
		want string
	}{
		{[]string{"python3", "-m", "sglang.launch_server", "--api-key", "secret"}, "python3 -m sglang.launch_server"},
		{[]string{"sglang::scheduler_TP0"}, "sglang::scheduler_TP0"},
		{[]string{strings.Repeat("é", 60) + "\x1b[31m"}, strings.Repeat("é", 40)},
		{nil, ""},
	} {
		if got := shortCommand(row.argv); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
