package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sweep/internal/incus"
	"sweep/internal/launch"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// inLab returns a variable of the lab, see lab/README.md; without a lab the
// test is skipped.
func inLab(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("no lab: %s is not set; `lab/up` brings one up, see lab/README.md", name)
	}
	return value
}

// labHost is what a container of the lab is given: cards that are none, a fake
// nvidia-smi, a Python that is a script, a model.
type labHost struct {
	dir string
	o   launch.ContainerOptions
}

// fakeSMI runs the lab's nvidia-smi with a file of this test.
type fakeSMI struct{ program string }

func (f fakeSMI) Run(ctx context.Context, argv ...string) ([]byte, int, error) {
	if argv[0] == "nvidia-smi" {
		argv = append([]string{f.program}, argv[1:]...)
	}
	return Local{}.Run(ctx, argv...)
}

func newLabHost(t *testing.T) labHost {
	t.Helper()
	program, state := inLab(t, "LAB_NVIDIA_SMI"), inLab(t, "LAB_H0_FAKE_SMI")
	t.Setenv("FAKE_SMI", "") // it goes by the file beside it
	dir, err := os.MkdirTemp("", "sweep-check-lab-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := labHost{dir: dir, o: launch.ContainerOptions{StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "bin"), Agent: filepath.Join(dir, "sweep")}}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", h.o.Agent, "sweep/cmd/sweep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a static sweep: %v\n%s", err, out)
	}
	copyFile(t, program, h.path("tools/nvidia-smi"))
	copyFile(t, state, h.path("tools/nvidia-smi.json"))
	write(t, h.dir, map[string]string{"models/GLM-5/config.json": "{}", "models/GLM-5/model.safetensors": "x", "cache/flashinfer/x": "x",
		"tools/python3": "#!/bin/sh\ncase \"$2\" in\n*add_cli_args*) echo '{\"sglang\": \"0.5.17\", \"flags\": [{\"names\": [\"--model-path\"]}, {\"names\": [\"--tp-size\"], \"type\": \"int\"}]}';;\n" +
			"*hashlib*) echo '{\"path\": \"/opt/sglang\", \"digest\": \"sha256:1\", \"files\": 1}';;\n*) echo '{\"sglang\": \"0.5.17\"}';;\nesac\n"})
	for _, name := range []string{"", "tools", "models", "models/GLM-5", "cache", "cache/flashinfer"} {
		chmod(t, h.path(name), 0o755)
	}
	for _, name := range []string{"tools/nvidia-smi", "tools/python3"} {
		chmod(t, h.path(name), 0o755)
	}
	for _, name := range []string{"tools/nvidia-smi.json", "models/GLM-5/config.json", "models/GLM-5/model.safetensors"} {
		chmod(t, h.path(name), 0o644)
	}
	return h
}

func (h labHost) path(name string) string { return filepath.Join(h.dir, name) }

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o755)); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
}

// mode changes what the fake nvidia-smi does, inside and out.
func (h labHost) mode(t *testing.T, mode string) {
	t.Helper()
	path := h.path("tools/nvidia-smi.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	state["Mode"] = mode
	if text, err = json.Marshal(state); err == nil {
		err = os.WriteFile(path, text, 0o644) //nolint:gosec // read inside, by another user
	}
	if err != nil {
		t.Fatal(err)
	}
}

// plan asks for eight GPUs in a container.
func (h labHost) plan(c sweep.Container) *sweep.Plan {
	return planOf(sweep.Configuration{Container: c, Command: []string{"/opt/lab/python3", "-m", "sglang.launch_server"}, Flags: eightCards(),
		Env: []matrix.Setting{variable("PATH", "/opt/lab:/usr/bin:/bin"), variable("HF_HUB_OFFLINE", "1")}})
}

func (h labHost) options(rt launch.Runtime) Options {
	return Options{Runtime: func(context.Context) (launch.Runtime, error) { return rt, nil }, Command: fakeSMI{h.path("tools/nvidia-smi")},
		LockPath: h.path("lock"), StateDir: h.o.StateDir, DataDir: h.path("data")}
}

// incusDevices are those of a container that has all.
func (h labHost) incusDevices() map[string]map[string]string {
	devices := map[string]map[string]string{
		"tools":  incus.Disk(h.path("tools"), "/opt/lab", true, false),
		"models": incus.Disk(h.path("models"), "/models", true, false),
		"cache":  incus.Disk(h.path("cache"), "/root/.cache", false, true),
		"ctl":    incus.CharDevice("/dev/null", "/dev/nvidiactl"),
		"uvm":    incus.CharDevice("/dev/null", "/dev/nvidia-uvm"),
	}
	for i := range 8 {
		devices[fmt.Sprintf("gpu%d", i)] = incus.CharDevice("/dev/null", fmt.Sprintf("/dev/nvidia%d", i))
	}
	return devices
}

func without(devices map[string]map[string]string, names ...string) map[string]map[string]string {
	devices = maps.Clone(devices)
	for _, n := range names {
		delete(devices, n)
	}
	return devices
}

// leftInIncus are containers of a check that are still there.
func leftInIncus(t *testing.T, client *incus.Client) []string {
	t.Helper()
	all, err := client.Instances(t.Context(), map[string]string{"user.sweep.sweep": checkLabel})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range all {
		names = append(names, in.Name)
	}
	return names
}

func TestLabIncusFresh(t *testing.T) {
	socket := inLab(t, "LAB_H0_INCUS_SOCKET")
	h := newLabHost(t)
	client := incus.New(socket, "")
	o := h.options(launch.NewIncus(socket, "", h.o))
	o.Tools.IncusSocket = socket
	fresh := func(devices map[string]map[string]string) *sweep.Plan {
		return h.plan(sweep.Container{Runtime: sweep.RuntimeIncus, Image: "tiny", Devices: devices})
	}
	t.Run("sound", func(t *testing.T) {
		r := checked(t, fresh(h.incusDevices()), o)
		if r.Fails > 0 {
			t.Errorf("%+v", r.Results)
		}
		wants(t, r, Host, "incus", OK, "Incus 6")
		wants(t, r, GPUs, "host", OK, "8 × NVIDIA H200")
		wants(t, r, GPUs, "in place", OK, "8 cards are seen in image tiny")
		wants(t, r, ModelOf, "model", OK, "/models/GLM-5", "1 shard")
		wants(t, r, Server, "flags", OK, "1 configuration fits")
	})
	t.Run("A08 no cache that lasts", func(t *testing.T) {
		wants(t, checked(t, fresh(without(h.incusDevices(), "cache")), o), Storage, "caches", Warn, "every start compiles anew")
	})
	t.Run("E21 cache of another user", func(t *testing.T) {
		devices := without(h.incusDevices(), "cache")
		devices["cache"] = incus.Disk(h.path("cache"), "/root/.cache", false, false)
		wants(t, checked(t, fresh(devices), o), Storage, "cache", Warn, "cannot write in /root/.cache/flashinfer", "shift=true")
	})
	t.Run("E18 no card", func(t *testing.T) {
		devices := h.incusDevices()
		for i := range 8 {
			delete(devices, fmt.Sprintf("gpu%d", i))
		}
		wants(t, checked(t, fresh(devices), o), GPUs, "in place", Fail, "no GPU device", "container.devices")
		wants(t, checked(t, fresh(without(h.incusDevices(), "uvm")), o), GPUs, "in place", Fail, "/dev/nvidia-uvm is missing")
	})
	t.Run("A24 typo", func(t *testing.T) {
		plan := fresh(h.incusDevices())
		plan.Configurations[0].Flags[0] = flag("model-path", "/models/GLM-5-NVFP")
		wants(t, checked(t, plan, o), ModelOf, "model", Fail, "no such directory; /models has GLM-5")
	})
	t.Run("E16 no interpreter", func(t *testing.T) {
		plan := fresh(h.incusDevices())
		plan.Configurations[0].Command[0] = "/opt/venv/bin/python3"
		wants(t, checked(t, plan, o), Server, "program", Fail, "there is no /opt/venv/bin/python3")
	})
	t.Run("no image", func(t *testing.T) {
		plan := h.plan(sweep.Container{Runtime: sweep.RuntimeIncus, Image: "no-such-image"})
		wants(t, checked(t, plan, o), Container, "image no-such-image", Fail, "there is no image", "incus image list")
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { // as soon as its container is there
			for ctx.Err() == nil {
				if all, err := client.Instances(ctx, map[string]string{"user.sweep.sweep": checkLabel}); err == nil && len(all) > 0 {
					cancel()
				}
			}
		}()
		if _, err := Run(ctx, fresh(h.incusDevices()), o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	for _, c := range []struct{ mode, host, place string }{
		{"nodriver", "modprobe nvidia", "reaches no driver"},
		{"mismatch", "reboot the host", "driver and library differ"},
		{"nodevices", "finds no card", "finds no card"},
		{"unknown", "Unknown Error", "restart the container"},
		{"hang", "no answer within", "does not answer"},
	} {
		t.Run(map[string]string{"mismatch": "E19 ", "unknown": "E20 ", "hang": "E25 "}[c.mode]+c.mode, func(t *testing.T) {
			if c.mode == "hang" && testing.Short() {
				t.Skip("waits for a program that hangs")
			}
			h.mode(t, c.mode)
			defer h.mode(t, "ok")
			began := time.Now()
			r := checked(t, fresh(h.incusDevices()), o)
			wants(t, r, GPUs, "host", Fail, c.host)
			wants(t, r, GPUs, "in place", Fail, c.place)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
	if left := leftInIncus(t, client); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestLabIncusExisting(t *testing.T) {
	socket := inLab(t, "LAB_H0_INCUS_SOCKET")
	h := newLabHost(t)
	o := h.options(launch.NewIncus(socket, "", h.o))
	o.Tools.IncusSocket = socket
	client := incus.New(socket, "")
	name := fmt.Sprintf("check-%d", os.Getpid())
	if err := client.Create(t.Context(), incus.CreateRequest{Name: name, Image: "tiny", Devices: h.incusDevices()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := client.Stop(ctx, name, true, 0); err != nil && !errors.Is(err, incus.ErrStopped) {
			t.Error(err)
		}
		if err := client.Delete(ctx, name); err != nil {
			t.Error(err)
		}
	})
	rt := launch.NewIncus(socket, "", h.o)
	plan := h.plan(sweep.Container{Runtime: sweep.RuntimeIncus, Instance: name})
	wants(t, checked(t, plan, o), Container, name, Fail, "is stopped", "start it")
	if err := client.Start(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	r := checked(t, plan, o)
	if r.Fails > 0 {
		t.Errorf("%+v", r.Results)
	}
	wants(t, r, Container, name, OK, "sweep runs in it")
	wants(t, r, Storage, "caches", OK)

	in, err := rt.Create(t.Context(), launch.InstanceSpec{Name: "sweep-check-made", Origin: launch.Origin{Instance: name}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rt.Destroy(context.WithoutCancel(t.Context()), in); err != nil {
			t.Error(err)
		}
	}()
	made := Prober{rt, in, o.Tools}.Made(t.Context(), plan.Configurations[0])
	if made.Container == nil || len(made.Container.Image) != 64 || len(made.Container.Config) != 64 {
		t.Errorf("container %+v, unknown %v", made.Container, made.Unknown)
	}
	if made.Model == nil || made.Install == nil || made.Install.Digest != "sha256:1" || len(made.Unknown) != 0 {
		t.Errorf("%+v", made)
	}
	for _, c := range made.Caches {
		if warm := c.Files > 0; warm != (c.Name == "flashinfer") {
			t.Errorf("%+v", c)
		}
	}
	again := Prober{rt, in, o.Tools}.Made(t.Context(), plan.Configurations[0])
	if diff := sweep.MadeDiff(made, again); diff != "" {
		t.Errorf("the same container differs: %s", diff)
	}
}

func TestLabLXC(t *testing.T) {
	path, instance, images := inLab(t, "LAB_LXCPATH"), inLab(t, "LAB_LXC_INSTANCE"), inLab(t, "LAB_IMAGES")
	h := newLabHost(t)
	rt := launch.NewLXC(path, h.o)
	r := checked(t, h.plan(sweep.Container{Runtime: sweep.RuntimeLXC, Instance: instance}), h.options(rt))
	wants(t, r, Host, "lxc", OK, "LXC 5", "root")
	wants(t, r, Container, instance, OK)
	wants(t, r, GPUs, "in place", Fail, "no GPU device in "+instance)
	wants(t, r, Server, "program", Fail, "there is no /opt/lab/python3")
	wants(t, checked(t, h.plan(sweep.Container{Runtime: sweep.RuntimeLXC, Instance: "no-such"}), h.options(rt)), Container, "no-such", Fail, "there is no container no-such")

	devices := map[string]map[string]string{
		"tools": {"source": h.path("tools"), "path": "/opt/lab", "readonly": "true"}, "models": {"source": h.path("models"), "path": "/models", "readonly": "true"},
		"ctl": {"source": "/dev/null", "path": "/dev/nvidiactl"}, "uvm": {"source": "/dev/null", "path": "/dev/nvidia-uvm"},
	}
	for i := range 8 {
		devices[fmt.Sprintf("gpu%d", i)] = map[string]string{"source": "/dev/null", "path": fmt.Sprintf("/dev/nvidia%d", i)}
	}
	plan := h.plan(sweep.Container{Runtime: sweep.RuntimeLXC, Image: filepath.Join(images, "tiny.tar.gz"), Devices: devices})
	r = checked(t, plan, h.options(rt))
	wants(t, r, GPUs, "in place", OK, "8 cards are seen")
	wants(t, r, ModelOf, "model", OK, "1 shard")
	wants(t, r, Storage, "caches", Warn, "every start compiles anew")
	h.mode(t, "mismatch")
	wants(t, checked(t, plan, h.options(rt)), GPUs, "in place", Fail, "driver and library differ")
	left, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), fmt.Sprintf("sweep-check-%d-", os.Getpid())) {
			t.Errorf("left: %s", e.Name())
		}
	}
}

func TestLabPct(t *testing.T) {
	path, instance, program := inLab(t, "LAB_H0_PCT_LXCPATH"), inLab(t, "LAB_PCT_INSTANCE"), inLab(t, "LAB_PCT")
	t.Setenv("PCT_LXCPATH", path)
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	h := newLabHost(t)
	rt := launch.NewPct(launch.PctOptions{LXCPath: path, Env: []string{"PCT_LXCPATH=" + path}}, h.o)
	r := checked(t, h.plan(sweep.Container{Runtime: sweep.RuntimePct, Instance: instance}), h.options(rt))
	wants(t, r, Host, "pct", OK, "pct answers", "LXC 5")
	wants(t, r, Container, instance, OK)
	wants(t, r, GPUs, "in place", Fail, "no GPU device in "+instance, "pct set "+instance)
	wants(t, checked(t, h.plan(sweep.Container{Runtime: sweep.RuntimePct, Instance: "777"}), h.options(rt)), Container, "777", Fail, "there is no container 777")
}

// Containers of Podman that were made alike are alike: none is measured anew
// for what the tool gives each of them.
func TestLabDocker(t *testing.T) {
	program, image := inLab(t, "LAB_PODMAN"), inLab(t, "LAB_PODMAN_IMAGE")
	h := newLabHost(t)
	rt := launch.NewDocker(launch.DockerOptions{Program: program}, h.o)
	o := h.options(rt)
	o.Tools.Docker = program
	fresh := h.plan(sweep.Container{Runtime: sweep.RuntimeDocker, Image: image})
	wants(t, checked(t, fresh, o), Host, "podman", OK, "answers")
	podman := func(args ...string) {
		t.Helper()
		if out, code, err := o.Tools.docker(context.WithoutCancel(t.Context()), args...); err != nil || code != 0 {
			t.Errorf("podman %s: exit %d, %v: %s", args, code, err, out)
		}
	}
	made := func(i int, c sweep.Container) sweep.Fingerprint {
		t.Helper()
		in, err := rt.Create(t.Context(), launch.InstanceSpec{Name: fmt.Sprintf("sweep-check-made-%d-%d", os.Getpid(), i), Origin: OriginOf(c)})
		if err != nil {
			t.Fatal(err)
		}
		f := Prober{rt, in, o.Tools}.Made(t.Context(), h.plan(c).Configurations[0])
		if err := rt.Destroy(context.WithoutCancel(t.Context()), in); err != nil {
			t.Error(err)
		}
		if f.Container == nil || len(f.Container.Image) != 64 || len(f.Container.Config) != 64 {
			t.Fatalf("container %+v, unknown %v", f.Container, f.Unknown)
		}
		return f
	}
	if diff := sweep.MadeDiff(made(1, fresh.Configurations[0].Container), made(2, fresh.Configurations[0].Container)); diff != "" {
		t.Errorf("two fresh ones: %s", diff)
	}
	var all []sweep.Fingerprint
	for i, shm := range []string{"64m", "64m", "96m"} { // as a person makes it anew after an update
		name := fmt.Sprintf("check-%d-%d", os.Getpid(), i)
		podman("run", "--detach", "--name", name, "--shm-size", shm, "--hostname", name, "--env", "A=1", "--env", "B=2", "--env", "C=3", image, "sleep", "600")
		t.Cleanup(func() { podman("rm", "--force", "--time", "0", name) })
		all = append(all, made(3+i, sweep.Container{Runtime: sweep.RuntimeDocker, Instance: name}))
	}
	if diff := sweep.MadeDiff(all[0], all[1]); diff != "" {
		t.Errorf("two that were made alike: %s", diff)
	}
	if diff := sweep.MadeDiff(all[0], all[2]); !strings.Contains(diff, "container config") {
		t.Errorf("one with more shared memory: %q", diff)
	}
}
