package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sweep/internal/bench"
	"sweep/internal/launch"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// TestMain lets the test binary be the sweep that is asked in an instance.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "facts" {
		os.Exit(Tell(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Under the race detector each process would sleep a second at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func flag(name string, words ...string) matrix.Setting {
	return matrix.Setting{Target: matrix.Flag, Name: name, Value: matrix.Value{Kind: matrix.Word, Words: words}}
}

func variable(name, value string) matrix.Setting {
	return matrix.Setting{Target: matrix.Env, Name: name, Value: matrix.Value{Kind: matrix.Word, Words: []string{value}}}
}

// planOf is a plan of one configuration with eight GPUs.
func planOf(c sweep.Configuration) *sweep.Plan {
	c.ID, c.Name = "c1", "tp8"
	if c.Command == nil {
		c.Command = []string{"python3", "-m", "sglang.launch_server"}
	}
	return &sweep.Plan{Schema: sweep.Schema, Name: "night", Configurations: []sweep.Configuration{c},
		Runs: []sweep.PlannedRun{{Ordinal: 1, Config: "c1", Port: 30000}}, Levels: []bench.Level{{Concurrency: 64, Prompts: 64}}}
}

func eightCards() []matrix.Setting {
	return []matrix.Setting{flag("model-path", "/models/GLM-5"), flag("tp-size", "8")}
}

// inIncus is a plan in an existing container.
func inIncus() *sweep.Plan {
	return planOf(sweep.Configuration{Flags: eightCards(), Container: sweep.Container{Runtime: "lxc", Instance: "glm5"}})
}

// place is a runtime of one container that answers questions as it is told.
type place struct {
	answers   map[string]any // by verb
	createErr error
	hang      bool // questions are never answered

	mu        sync.Mutex
	made      []string
	destroyed []string
}

func (p *place) Create(ctx context.Context, spec launch.InstanceSpec) (launch.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.createErr != nil {
		return launch.Instance{}, p.createErr
	}
	p.made = append(p.made, spec.Name)
	return launch.Instance{Name: spec.Name, Labels: spec.Labels, Dir: "/var/lib/sweep/x", Bin: "/sweep", Container: "glm5"}, nil
}

func (p *place) Exec(ctx context.Context, _ launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	if p.hang {
		<-ctx.Done()
		return launch.ExecResult{}, ctx.Err()
	}
	answer, ok := p.answers[cmd.Argv[2]]
	if !ok {
		return launch.ExecResult{Code: 1, Stderr: []byte("no answer to " + cmd.Argv[2])}, nil
	}
	text, err := json.Marshal(answer)
	return launch.ExecResult{Stdout: text}, err
}

func (p *place) Files(launch.Instance) launch.Files { return noFiles{} }

func (p *place) List(context.Context) ([]launch.Instance, error) { return nil, nil }

func (p *place) Destroy(ctx context.Context, in launch.Instance) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.destroyed = append(p.destroyed, in.Name)
	return ctx.Err()
}

type noFiles struct{}

func (noFiles) Put(context.Context, string, io.Reader, fs.FileMode) error { return fs.ErrInvalid }

func (noFiles) ReadAt(context.Context, string, int64, int) ([]byte, error) {
	return nil, fs.ErrNotExist
}

// well is a container in which nothing is wrong.
func well() *place {
	nofile := uint64(1 << 20)
	memlock := Unlimited
	nodes := []string{"/dev/nvidiactl", "/dev/nvidia-uvm"}
	for i := range 8 {
		nodes = append(nodes, fmt.Sprintf("/dev/nvidia%d", i))
	}
	room := &Disk{Path: "/var/lib/sweep", Mount: "/", Type: "ext4", Total: 1 << 40, Free: 1 << 39}
	return &place{answers: map[string]any{
		verbPlace: Place{Devices: nodes, Module: "580.95.05", Library: "580.95.05", Dir: room, NoFile: &nofile, Memlock: &memlock,
			Shm:     &Disk{Path: "/dev/shm", Mount: "/dev/shm", Type: "tmpfs", Total: 64 << 30, Free: 64 << 30},
			Program: "/opt/venv/bin/python3", NVCC: "/usr/local/cuda/bin/nvcc", Ninja: "/usr/bin/ninja", Offline: true,
			Caches: []Cache{{Name: "flashinfer", Path: "/root/.cache/flashinfer", Disk: &Disk{Mount: "/root/.cache", Type: "ext4", Free: 1 << 39}}}},
		verbCards:   Cards{Path: "/usr/bin/nvidia-smi", Count: 8},
		verbModel:   Model{Asked: "/models/GLM-5", Shards: 47, Facts: &sweep.ModelFacts{Bytes: 410 << 30}},
		verbInstall: Python{Packages: map[string]string{"sglang": "0.5.17", "torch": "2.9.1"}, Install: &sweep.Install{Path: "/opt/sglang"}},
		verbParser:  Parser{Dump: `{"sglang": "0.5.17", "flags": [{"names": ["--model-path"], "action": "_StoreAction"}, {"names": ["--tp-size"], "type": "int", "action": "_StoreAction"}]}`, Seconds: 8},
	}}
}

func (p *place) with(change func(*Place)) *place {
	x := p.answers[verbPlace].(Place)
	change(&x)
	p.answers[verbPlace] = x
	return p
}

// smi answers as a host's tools.
type smi struct {
	cards string // rows of nvidia-smi
	apps  string
	code  int
	said  string
	topo  string
}

func (s smi) Run(_ context.Context, argv ...string) ([]byte, int, error) {
	line := strings.Join(argv, " ")
	switch {
	case strings.HasPrefix(line, "lxc-info"):
		return []byte("5.0.2\n"), 0, nil
	case s.code != 0:
		return []byte(s.said), s.code, nil
	case strings.Contains(line, "query-gpu"):
		return []byte(s.cards), 0, nil
	case strings.Contains(line, "compute-apps"):
		return []byte(s.apps), 0, nil
	case strings.Contains(line, "topo"):
		return []byte(s.topo), 0, nil
	}
	return nil, 0, nil
}

// eight are the rows of eight cards, the first holding used MiB.
func eight(used int) string {
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "%d, GPU-%d, RTX PRO 6000, %d, 97887, 580.95.05, 00:0%d.0, 98.02, 600, 2430, 5, 16, 16, Enabled\n", i, i, used, i)
		used = 1
	}
	return b.String()
}

// options of a check with a runtime and a host.
func options(t *testing.T, rt launch.Runtime, host smi) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{Runtime: func(context.Context) (launch.Runtime, error) { return rt, nil }, Command: host,
		LockPath: filepath.Join(dir, "lock"), StateDir: filepath.Join(dir, "state"), DataDir: filepath.Join(dir, "data")}
}

func checked(t *testing.T, plan *sweep.Plan, o Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find is the first result about something.
func find(r *Report, group Group, what string) Result {
	for _, x := range r.Results {
		if x.Group == group && x.What == what {
			return x
		}
	}
	return Result{}
}

// wants is what a result must say.
func wants(t *testing.T, r *Report, group Group, what string, grade Grade, words ...string) {
	t.Helper()
	x := find(r, group, what)
	text := x.Finding + " — " + x.Remedy
	if x.Grade != grade {
		t.Errorf("%s %q: grade %q, want %q: %s", group, what, x.Grade, grade, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s %q: %q lacks %q", group, what, text, w)
		}
	}
}

func TestASoundHostIsFit(t *testing.T) {
	p := well()
	r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
	if r.Fails != 0 {
		for _, x := range r.Results {
			if x.Grade == Fail && x.Group != Host { // not root, on some machines
				t.Errorf("%+v", x)
			}
		}
	}
	wants(t, r, GPUs, "in place", OK, "8 cards")
	wants(t, r, ModelOf, "model", OK, "47 shards", "410 GiB")
	wants(t, r, Server, "flags", OK, "1 configuration fits", "0.5.17")
	if !slices.Equal(p.made, p.destroyed) || len(p.made) != 1 {
		t.Errorf("made %q, removed %q", p.made, p.destroyed)
	}
	for i, x := range r.Results[1:] {
		if slices.Index(groups, x.Group) < slices.Index(groups, r.Results[i].Group) {
			t.Errorf("%s after %s", x.Group, r.Results[i].Group)
		}
	}
}

// The same host gives the same lines in the same order.
func TestOrderIsStable(t *testing.T) {
	lines := func() string {
		r := checked(t, inIncus(), options(t, well(), smi{cards: eight(1)}))
		var b bytes.Buffer
		for _, x := range r.Results {
			fmt.Fprintln(&b, x.Group, x.What)
		}
		return b.String()
	}
	first := lines()
	for range 5 {
		if again := lines(); again != first {
			t.Fatalf("%s\nthen\n%s", first, again)
		}
	}
}

// A sweep that measures is not disturbed: nothing is made.
func TestARunningSweepIsNamedAndLeftAlone(t *testing.T) {
	p := well()
	o := options(t, p, smi{cards: eight(1)})
	if err := os.WriteFile(o.LockPath, []byte("pid 42 since 2026-12-01T20:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(o.LockPath, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	r := checked(t, inIncus(), o)
	wants(t, r, Host, "lock", Fail, "pid 42", "wait for it", "`sweep status` lists it", "`sweep stop NAME`")
	there := inIncus()
	there.Host = "rtx6k"
	wants(t, checked(t, there, o), Host, "lock", Fail, "`sweep attach` follows it", "`sweep stop NAME`")
	if len(p.made) != 0 {
		t.Errorf("made %q", p.made)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if r := checked(t, inIncus(), o); find(r, Host, "lock").Grade != OK {
		t.Error("the lock was free, and is not reported so")
	}
}

// Ctrl-C: what was made is removed on a context of its own.
func TestInterruptedCheckLeavesNothing(t *testing.T) {
	p := well()
	p.hang = true
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, p, smi{cards: eight(1)})
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Run(ctx, inIncus(), o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(p.made) != 1 || !slices.Equal(p.made, p.destroyed) {
		t.Errorf("made %q, removed %q", p.made, p.destroyed)
	}
}

func TestContainerThatCannotBeHad(t *testing.T) {
	p := well()
	p.createErr = fmt.Errorf("create instance sweep-check-%d-1: %w: the container glm5 is frozen: let it go on, then try again", os.Getpid(), launch.ErrOrigin)
	r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
	wants(t, r, Container, "glm5", Fail, "the container glm5 is frozen — let it go on")
	r = checked(t, inIncus(), Options{Runtime: func(context.Context) (launch.Runtime, error) { return nil, errors.New("no lxc here") }, Command: smi{cards: eight(1)}, LockPath: "/nonexistent/lock"})
	wants(t, r, Host, "lxc", Fail, "no lxc here")
}

func TestSimulatedServersNeedNoCards(t *testing.T) {
	plan := planOf(sweep.Configuration{Command: []string{"sweep", "sim"}, Flags: []matrix.Setting{flag("model-path", "sim/small"), flag("tp-size", "8")}, Container: sweep.Container{Runtime: "lxc", Instance: "glm5"}})
	r := checked(t, plan, options(t, well(), smi{code: 9, said: "no driver"}))
	wants(t, r, GPUs, "simulated", Note, "not looked at")
	for _, x := range r.Results {
		if x.Group == ModelOf || x.Grade == Fail && x.Group != Host {
			t.Errorf("%+v", x)
		}
	}
}

func TestSecrets(t *testing.T) {
	plan := inIncus()
	plan.Secrets = []string{"HF_TOKEN", "OTHER"}
	o := options(t, well(), smi{cards: eight(1)})
	o.HasSecret = func(name string) bool { return name == "OTHER" }
	wants(t, checked(t, plan, o), Host, "secrets", Fail, "HF_TOKEN not set")
	o.HasSecret = nil
	if x := find(checked(t, plan, o), Host, "secrets"); x.Grade != "" {
		t.Errorf("secrets that are brought later: %+v", x)
	}
}
