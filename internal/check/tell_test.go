package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sweep/internal/launch"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// write makes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestModelIsReadWhole(t *testing.T) {
	const index = `{"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-2.safetensors"}}`
	whole := map[string]string{"config.json": "{}", "model.safetensors.index.json": index, "m-1.safetensors": "xx", "m-2.safetensors": "y"}
	for name, c := range map[string]struct {
		change map[string]string // "": removed
		want   string            // "": whole
	}{
		"whole":    {nil, ""},
		"config":   {map[string]string{"config.json": ""}, "no readable config.json"},
		"shard":    {map[string]string{"m-2.safetensors": ""}, "lacks 1 of 2 shards, first m-2.safetensors"},
		"index":    {map[string]string{"model.safetensors.index.json": "{"}, "index of shards that cannot be read"},
		"outside":  {map[string]string{"model.safetensors.index.json": `{"weight_map": {"a": "../x"}}`}, "outside itself"},
		"no index": {map[string]string{"model.safetensors.index.json": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, whole)
			for file, text := range c.change {
				if text == "" {
					os.Remove(filepath.Join(dir, file))
					continue
				}
				write(t, dir, map[string]string{file: text})
			}
			m := tellModel(t.Context(), Question{Model: dir}, environment{"HOME": dir})
			if c.want == "" && (m.Trouble != "" || m.Facts == nil || m.Facts.Bytes != 3 || m.Shards != 2) || !strings.Contains(m.Trouble, c.want) {
				t.Errorf("%+v %+v", m, m.Facts)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, whole)
	before := tellModel(t.Context(), Question{Model: dir}, nil).Facts.Digest
	write(t, dir, map[string]string{"m-1.safetensors": "xxx"})
	if after := tellModel(t.Context(), Question{Model: dir}, nil).Facts.Digest; after == before || len(after) != 64 {
		t.Errorf("a shard of another size has the digest %s, before %s", after, before)
	}
}

func TestModelInTheHubsCache(t *testing.T) {
	home := t.TempDir()
	env := environment{"HOME": home}
	ask := func() Model { return tellModel(t.Context(), Question{Model: "zai/GLM-5"}, env) }
	if m := ask(); !m.Hub || m.Cached || m.Where != filepath.Join(home, ".cache/huggingface/hub") {
		t.Errorf("%+v", m)
	}
	env["HF_HOME"] = filepath.Join(home, "hf")
	write(t, filepath.Join(home, "hf/hub/models--zai--GLM-5"), map[string]string{"refs/main": "abc123\n", "snapshots/abc123/config.json": "{}", "snapshots/abc123/model.safetensors": "x"})
	if m := ask(); !m.Cached || m.Trouble != "" || m.Facts == nil || m.Facts.Snapshot != "abc123" {
		t.Errorf("%+v %+v", m, m.Facts)
	}
}

// The env-file's values are used and never told.
func TestEnvFileStaysWhereItIs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"env": "HF_HUB_OFFLINE=1\nHOME=" + dir + "\nSECRET=hunter2\n", "bad": "no equals hunter2\n"})
	q := Question{Env: []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, EnvFile: filepath.Join(dir, "env"), Own: []string{"X=1"}, Dir: dir, Program: "sh"}
	env, err := q.environment()
	p := tellPlace(q, env, err)
	text, _ := json.Marshal(p)
	if !p.Offline || p.EnvFile != "" || strings.Contains(string(text), "hunter2") || p.Program == "" {
		t.Errorf("%s", text)
	}
	q.Own = []string{"HF_HUB_OFFLINE"} // unset by the configuration
	env, err = q.environment()
	if tellPlace(q, env, err).Offline {
		t.Error("a variable that is unset counts")
	}
	q.EnvFile = filepath.Join(dir, "bad")
	_, err = q.environment()
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestHeldPortNamesItsHolder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	held := heldPorts([]int{port})
	if len(held) != 1 || !strings.Contains(held[0].By, fmt.Sprintf("pid %d ", os.Getpid())) {
		t.Errorf("%+v", held)
	}
	l.Close()
	if held := heldPorts([]int{port}); len(held) != 0 {
		t.Errorf("closed: %+v", held)
	}
}

// E16: the interpreter is found as a server would be: in the PATH of its own
// environment, or through the first line of sglang's own program.
func TestE16InterpreterOfTheServersEnvironment(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"venv/bin/python3": "#!/bin/sh\n", "venv/bin/sglang": "#!" + dir + "/venv/bin/python3\n", "e/sglang": "#!/usr/bin/env python3\n"})
	for _, f := range []string{"venv/bin/python3", "venv/bin/sglang", "e/sglang"} {
		if err := os.Chmod(filepath.Join(dir, f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	venv := environment{"PATH": dir + "/venv/bin"}
	for _, c := range []struct {
		program string
		env     environment
		want    string
	}{
		{"python3", venv, dir + "/venv/bin/python3"},
		{dir + "/venv/bin/python3", environment{"PATH": "/usr/bin:/bin"}, dir + "/venv/bin/python3"},
		{"sglang", venv, dir + "/venv/bin/python3"},
		{dir + "/e/sglang", venv, dir + "/venv/bin/python3"},
		{"python3", environment{"PATH": dir}, ""},
	} {
		got, err := interpreter(Question{Program: c.program}, c.env)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s in %v: %q, %v", c.program, c.env, got, err)
		}
	}
}

// People patch sglang in place, which no version shows.
func TestInstallDigestShowsAPatch(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	site := t.TempDir()
	write(t, site, map[string]string{"sglang/__init__.py": "", "sglang/srt/a.py": "x = 1\n", "sglang/notes.txt": "n",
		"sglang-0.5.99.dist-info/METADATA": "Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.99\n"})
	q := Question{Program: python, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PYTHONPATH=" + site}}
	ask := func() *sweep.Install {
		env, _ := q.environment()
		p := tellInstall(t.Context(), q, env)
		if p.Packages["sglang"] != "0.5.99" || p.Install == nil {
			t.Fatalf("%+v", p)
		}
		return p.Install
	}
	first := ask()
	if first.Files != 2 || !strings.HasPrefix(first.Digest, "sha256:") || first.Path != filepath.Join(site, "sglang") {
		t.Errorf("%+v", first)
	}
	write(t, site, map[string]string{"sglang/notes.txt": "other", "sglang/__pycache__/a.py": "x"})
	if again := ask(); again.Digest != first.Digest {
		t.Error("what is no source changes the digest")
	}
	write(t, site, map[string]string{"sglang/srt/a.py": "x = 2\n"})
	if patched := ask(); patched.Digest == first.Digest {
		t.Error("a patch does not show")
	}
}

// A24, end to end on this machine: a typing error in the model's path, and
// what is there instead.
func TestA24TypoInTheModelsPath(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"models/GLM-5-NVFP4/config.json": "{}", "bin/python3": "#!/bin/sh\ncase \"$2\" in *hashlib*) echo '{}';; *) echo '{\"sglang\": \"0.5.17\"}';; esac\n"})
	if err := os.Chmod(filepath.Join(dir, "bin/python3"), 0o755); err != nil {
		t.Fatal(err)
	}
	plan := planOf(sweep.Configuration{Command: []string{filepath.Join(dir, "bin/python3"), "-m", "sglang.launch_server"},
		Env: []matrix.Setting{variable("HOME", dir)}, Flags: []matrix.Setting{flag("model-path", dir+"/models/GLM-5-NVFP"), flag("tp-size", "8")}, Container: sweep.Container{Runtime: "process"}})
	o := options(t, launch.NewProcess(filepath.Join(dir, "state"), filepath.Join(dir, "cache")), smi{cards: eight(1)})
	r := checked(t, plan, o)
	wants(t, r, ModelOf, "model", Fail, "no such directory", "GLM-5-NVFP4", "check the flag model-path")
	wants(t, r, Server, "sglang", OK, "sglang 0.5.17")
	wants(t, r, Server, "import", Warn, "in other words")
	if left, _ := os.ReadDir(filepath.Join(dir, "state", "instances")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// What a server is made of goes on record, and what could not be read says why.
func TestMade(t *testing.T) {
	p := well()
	c := inIncus().Configurations[0]
	in, err := p.Create(t.Context(), launch.InstanceSpec{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	f := Prober{Runtime: p, Instance: in}.Made(t.Context(), c)
	if f.Install == nil || f.Model == nil || f.Packages["torch"] != "2.9.1" || f.Unknown["model"] != "" {
		t.Errorf("%+v", f)
	}
	if f.Container != nil || f.Unknown["container"] == "" { // there is no such container
		t.Errorf("container %+v, unknown %v", f.Container, f.Unknown)
	}
	p.answers[verbModel] = Model{Asked: "/m", Trouble: "no readable config.json"}
	delete(p.answers, verbInstall)
	f = Prober{Runtime: p, Instance: in}.Made(t.Context(), c)
	if f.Model != nil || !strings.Contains(f.Unknown["model"], "config.json") || f.Install != nil || f.Unknown["install"] == "" {
		t.Errorf("%+v", f)
	}
}

func TestTellRefusesWhatIsNoQuestion(t *testing.T) {
	for _, c := range []struct{ args, question string }{{"", "{}"}, {"place", "hello"}, {"nonsense", "{}"}, {"place more", "{}"}} {
		var out, trouble strings.Builder
		if code := Tell(t.Context(), strings.Fields(c.args), strings.NewReader(c.question), &out, &trouble); code != 2 || trouble.Len() == 0 || out.Len() != 0 {
			t.Errorf("%q %q: code %d, %q, %q", c.args, c.question, code, out.String(), trouble.String())
		}
	}
}

// A command that is not done in time goes, and with it all that it started.
func TestLocalEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, code, err := (Local{}).Run(ctx, "sh", "-c", "sleep 60 & sleep 60"); err == nil || code != -1 {
		t.Errorf("code %d, %v", code, err)
	}
	if out, code, err := (Local{}).Run(t.Context(), "sh", "-c", "echo why >&2; exit 3"); err != nil || code != 3 || string(out) != "why\n" {
		t.Errorf("%q, code %d, %v", out, code, err)
	}
}

func TestHostFactsSayWhatTheyDoNotKnow(t *testing.T) {
	f := HostFacts(t.Context(), smi{cards: eight(7)})
	if len(f.GPUs) != 8 || f.GPUs[0].VBIOS != "98.02" || f.GPUs[0].MemoryUsed != nil || f.Driver != "580.95.05" {
		t.Errorf("%+v", f)
	}
	if f.CUDA == "" && f.Unknown["cuda"] == "" {
		t.Error("CUDA is not known, and nothing says why")
	}
	if f = HostFacts(t.Context(), smi{code: 9, said: "no driver"}); f.GPUNote == "" || f.GPUs != nil {
		t.Errorf("%+v", f)
	}
}

// E25: a look that hangs once has a second try; one that hangs twice is slow,
// which is not "no GPU".
func TestE25CardsHaveASecondTry(t *testing.T) {
	dir := t.TempDir()
	const script = "#!/bin/sh\nif [ -e %[1]s/once ] && [ ! -e %[1]s/always ]; then echo 'GPU 0: X (UUID: GPU-a)'; exit 0; fi\n: > %[1]s/once\nsleep 60\n"
	write(t, dir, map[string]string{"nvidia-smi": fmt.Sprintf(script, dir)})
	if err := os.Chmod(filepath.Join(dir, "nvidia-smi"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	env := environment{"PATH": dir + ":/usr/bin:/bin"}
	if c := tellCards(ctx, env); c.Slow || c.Count != 1 || c.Said != "" {
		t.Errorf("%+v", c)
	}
	write(t, dir, map[string]string{"always": ""})
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if c := tellCards(ctx, env); !c.Slow || c.Count != 0 {
		t.Errorf("%+v", c)
	}
}

// The packages of a server on this machine are those its own environment leads
// to, and an environment that cannot be had leads to none.
func TestPackagesOnThisMachine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"env": "VERSION=0.5.17\nOTHER=x\n", "bin/python-of-mine": "#!/bin/sh\necho noise\necho \"{\\\"sglang\\\": \\\"$VERSION$OTHER$HERE\\\"}\"\n"})
	if err := os.Chmod(filepath.Join(dir, "bin/python-of-mine"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("HERE", "y") // a login's own variables are not a server's
	unset := matrix.Setting{Target: matrix.Env, Name: "OTHER", Value: matrix.Value{Kind: matrix.Omit}}
	c := sweep.Configuration{Command: []string{"python-of-mine"}, EnvFile: filepath.Join(dir, "env"), Env: []matrix.Setting{variable("PATH", filepath.Join(dir, "bin")+":/bin"), unset}}
	if got := Packages(t.Context(), c); got["sglang"] != "0.5.17" {
		t.Errorf("%v", got)
	}
	c.EnvFile = filepath.Join(dir, "none")
	if got := Packages(t.Context(), c); got != nil {
		t.Errorf("without its env-file: %v", got)
	}
}
