package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// answering is a runtime whose instances answer the questions of a fingerprint.
type answering struct {
	launch.Runtime
	asked     map[string]int
	packages  map[string]string // null: sglang 0.5.17
	question  check.Question    // the last
	createErr error
}

func (a *answering) Create(_ context.Context, spec launch.InstanceSpec) (launch.Instance, error) {
	return launch.Instance{Name: spec.Name, OnHost: true, Bin: "/sweep"}, a.createErr
}

func (a *answering) Destroy(context.Context, launch.Instance) error { return nil }

func (a *answering) Exec(_ context.Context, _ launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	if cmd.Argv[0] != "/sweep" { // python itself would be asked in another environment than the server's
		return launch.ExecResult{}, errors.New("asked of " + cmd.Argv[0])
	}
	verb := cmd.Argv[2]
	a.asked[verb]++
	text, err := io.ReadAll(cmd.Stdin)
	if err != nil {
		return launch.ExecResult{}, err
	}
	if err := json.Unmarshal(text, &a.question); err != nil {
		return launch.ExecResult{}, err
	}
	packages := a.packages
	if packages == nil {
		packages = map[string]string{"sglang": "0.5.17"}
	}
	answers := map[string]any{
		"install": check.Python{Packages: packages, Install: &sweep.Install{Digest: "sha256:1"}},
		"model":   check.Model{Asked: "/m", Facts: &sweep.ModelFacts{Digest: "d"}, Caches: []sweep.CacheFacts{{Name: "triton", Files: 3}}},
	}
	text, err = json.Marshal(answers[verb])
	return launch.ExecResult{Stdout: text}, err
}

// The questions are asked once a night for each server, and not again for
// configurations that differ in flags only.
func TestFingerprintIsAskedOnceANight(t *testing.T) {
	rt := &answering{asked: map[string]int{}}
	f := newFactsAsker(rt, "night")
	flag := func(name, value string) matrix.Setting {
		return matrix.Setting{Target: matrix.Flag, Name: name, Value: matrix.Value{Kind: matrix.Word, Words: []string{value}}}
	}
	c := sweep.Configuration{Command: []string{"python3", "-m", "sglang.launch_server"}, Flags: []matrix.Setting{flag("model-path", "/m"), flag("tp-size", "8")}}
	for _, size := range []string{"8", "4", "8"} {
		c.Flags[1] = flag("tp-size", size)
		got := f.fingerprint(t.Context(), check.Tools{}, c)
		if got.Install == nil || got.Install.Digest != "sha256:1" || got.Model == nil || got.Packages["sglang"] != "0.5.17" || len(got.Caches) != 1 {
			t.Fatalf("%+v", got)
		}
	}
	if rt.asked["install"] != 1 || rt.asked["model"] != 1 {
		t.Errorf("asked %v", rt.asked)
	}
	c.Flags[0] = flag("model-path", "/other")
	if f.fingerprint(t.Context(), check.Tools{}, c); rt.asked["model"] != 2 {
		t.Errorf("another model: asked %v", rt.asked)
	}
}

// Versions are those that the server's own environment leads to: its env-file
// and what is unset there are part of the question.
func TestPackagesAreAskedInTheServersEnvironment(t *testing.T) {
	rt := &answering{asked: map[string]int{}}
	f := newFactsAsker(rt, "night")
	unset := matrix.Setting{Target: matrix.Env, Name: "PYTHONPATH", Value: matrix.Value{Kind: matrix.Omit}}
	c := sweep.Configuration{Command: []string{"python3"}, EnvFile: "/etc/sglang.env", Env: []matrix.Setting{unset}}
	if got := f.fingerprint(t.Context(), check.Tools{}, c); got.Packages["sglang"] != "0.5.17" {
		t.Errorf("%+v", got)
	}
	if q := rt.question; q.EnvFile != c.EnvFile || !slices.Contains(q.Own, "PYTHONPATH") {
		t.Errorf("asked %+v", q)
	}
	c.Command = []string{"sweep", "sim"}
	if got := f.fingerprint(t.Context(), check.Tools{}, c); got.Packages["sweep sim"] != "sweep" {
		t.Errorf("a simulated server: %+v", got)
	}
}

func TestFingerprintWithoutAnInstanceIsNotKnown(t *testing.T) {
	c := sweep.Configuration{Command: []string{"python3"}}
	for name, f := range map[string]*factsAsker{
		"none":        nil,
		"no instance": newFactsAsker(&answering{createErr: errors.Join(launch.ErrOrigin, fs.ErrNotExist)}, "n"),
	} {
		if got := f.fingerprint(t.Context(), check.Tools{}, c); got.Install != nil || got.Model != nil || got.Packages != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
