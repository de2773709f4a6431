package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sweep/internal/incus"
	"sweep/internal/launch"
	"sweep/internal/supervise"
)

// inContainer gives a container runtime its instances: each check asks for
// instances by name, and they are made in Origin.
type inContainer struct {
	launch.Runtime
	origin  launch.Origin
	foreign func(ctx context.Context, name string) (there func() bool, remove func() error, err error)
}

func (r inContainer) Create(ctx context.Context, spec launch.InstanceSpec) (launch.Instance, error) {
	spec.Origin = r.origin
	return r.Runtime.Create(ctx, spec)
}

func (r inContainer) MakeForeign(ctx context.Context, name string) (there func() bool, remove func() error, err error) {
	if r.foreign == nil {
		return nil, nil, errSkip
	}
	return r.foreign(ctx, name)
}

// lab returns a variable of the lab, see lab/README.md; without a lab the test
// is skipped.
func lab(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("no lab: %s is not set; `lab/up` brings one up, see lab/README.md", name)
	}
	return value
}

// staticSweep builds the binary that goes into containers: the part of sweep
// that runs there.
func staticSweep(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sweep")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "sweep/internal/launch/runtimetest/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a static sweep: %v\n%s", err, out)
	}
	return file
}

// options keep the binary where every container may read it.
func options(t *testing.T) launch.ContainerOptions {
	t.Helper()
	cache, err := os.MkdirTemp("", "sweep-contract-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(cache) })
	if err := os.Chmod(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	return launch.ContainerOptions{StateDir: t.TempDir(), CacheDir: cache, Agent: staticSweep(t)}
}

// incusContainer makes a container that is nobody's: a foreign one, or one that
// instances are made in.
func incusContainer(ctx context.Context, client *incus.Client, name string) (remove func() error, err error) {
	if err := client.Create(ctx, incus.CreateRequest{Name: name, Image: "tiny"}); err != nil {
		return nil, err
	}
	return func() error {
		ctx := context.WithoutCancel(ctx)
		stopped := client.Stop(ctx, name, true, 0)
		if errors.Is(stopped, incus.ErrStopped) {
			stopped = nil
		}
		return errors.Join(stopped, client.Delete(ctx, name))
	}, nil
}

func TestIncus(t *testing.T) {
	socket := lab(t, "LAB_H0_INCUS_SOCKET")
	o := options(t)
	client := incus.New(socket, "")
	foreign := func(ctx context.Context, name string) (func() bool, func() error, error) {
		remove, err := incusContainer(ctx, client, name)
		there := func() bool { _, err := client.Instance(ctx, name); return err == nil }
		return there, remove, err
	}
	name := unique()
	remove, err := incusContainer(t.Context(), client, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	stopped := unique()
	removeStopped, err := incusContainer(t.Context(), client, stopped)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeStopped(); err != nil {
			t.Error(err)
		}
	})
	if err := client.Start(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		in   inContainer
	}{
		{"image", inContainer{origin: launch.Origin{Image: "tiny"}, foreign: foreign}},
		{"bare image", inContainer{origin: launch.Origin{Image: "bare"}}},
		{"noexec image", inContainer{origin: launch.Origin{Image: "noexec"}}},
		{"copy", inContainer{origin: launch.Origin{CopyOf: stopped}}},
		{"instance", inContainer{origin: launch.Origin{Instance: name}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Run(t, func(t *testing.T) launch.Runtime {
				c.in.Runtime = launch.NewIncus(socket, "", o)
				return c.in
			})
		})
	}
}

// run runs a program of the lab and returns what it said.
func run(ctx context.Context, argv ...string) error {
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", argv, err, out)
	}
	return nil
}

// foreignDir makes a directory in a container that stays, where an instance of
// that name would be; in begins the command that runs a program there.
func foreignDir(in ...string) func(ctx context.Context, name string) (func() bool, func() error, error) {
	return func(ctx context.Context, name string) (func() bool, func() error, error) {
		dir := "/var/lib/sweep/instances/" + name
		there := func() bool { return run(ctx, append(in, "test", "-d", dir)...) == nil }
		return there, func() error { return run(ctx, append(in, "rm", "-rf", dir)...) }, run(ctx, append(in, "mkdir", "-p", dir)...)
	}
}

func TestLXC(t *testing.T) {
	lxcPath, instance, images := lab(t, "LAB_LXCPATH"), lab(t, "LAB_LXC_INSTANCE"), lab(t, "LAB_IMAGES")
	o := options(t)
	foreign := func(ctx context.Context, name string) (func() bool, func() error, error) {
		there := func() bool { return run(ctx, "lxc-info", "-P", lxcPath, "-n", name) == nil }
		remove := func() error { return run(ctx, "lxc-destroy", "-P", lxcPath, "-n", name) }
		return there, remove, run(ctx, "lxc-create", "-P", lxcPath, "-n", name, "-t", "none", "-f", "/dev/null")
	}
	for _, c := range []struct {
		name string
		in   inContainer
	}{
		{"image", inContainer{origin: launch.Origin{Image: filepath.Join(images, "tiny.tar.gz")}, foreign: foreign}},
		{"instance", inContainer{origin: launch.Origin{Instance: instance}, foreign: foreignDir("lxc-attach", "-P", lxcPath, "-n", instance, "--")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Run(t, func(t *testing.T) launch.Runtime {
				c.in.Runtime = launch.NewLXC(lxcPath, o)
				return c.in
			})
		})
	}
}

func TestPct(t *testing.T) {
	program, lxcPath, instance, images := lab(t, "LAB_PCT"), lab(t, "PCT_LXCPATH"), lab(t, "LAB_PCT_INSTANCE"), lab(t, "LAB_IMAGES")
	o := options(t)
	p := launch.PctOptions{Program: program, LXCPath: lxcPath, Env: []string{"PCT_LXCPATH=" + lxcPath}}
	for _, c := range []struct {
		name   string
		origin launch.Origin
	}{
		{"image", launch.Origin{Image: filepath.Join(images, "tiny.tar.gz")}},
		{"instance", launch.Origin{Instance: instance}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Run(t, func(t *testing.T) launch.Runtime {
				return inContainer{Runtime: launch.NewPct(p, o), origin: c.origin}
			})
		})
	}
}

func TestDocker(t *testing.T) {
	program, image, instance := lab(t, "LAB_PODMAN"), lab(t, "LAB_PODMAN_IMAGE"), lab(t, "LAB_PODMAN_INSTANCE")
	o := options(t)
	foreign := func(ctx context.Context, name string) (func() bool, func() error, error) {
		there := func() bool { return run(ctx, program, "container", "exists", name) == nil }
		return there, func() error { return run(ctx, program, "rm", name) }, run(ctx, program, "create", "--name", name, image)
	}
	for _, c := range []struct {
		name string
		in   inContainer
	}{
		{"image", inContainer{origin: launch.Origin{Image: image}, foreign: foreign}},
		{"instance", inContainer{origin: launch.Origin{Instance: instance}, foreign: foreignDir(program, "exec", instance)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Run(t, func(t *testing.T) launch.Runtime {
				c.in.Runtime = launch.NewDocker(launch.DockerOptions{Program: program}, o)
				return c.in
			})
		})
	}
}

// TestHeldSurvivesTheDaemon: a held process, its output and its exit code
// outlive a restart and a crash of the container daemon, and a command that is
// lost with it.
func TestHeldSurvivesTheDaemon(t *testing.T) {
	socket, dir := lab(t, "LAB_H1_INCUS_SOCKET"), lab(t, "LAB_DIR")
	lock, err := os.OpenFile(filepath.Join(lab(t, "LAB_ROOT"), "faults.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) // tests of another package do the same to that daemon
	}
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	rt := launch.NewIncus(socket, "", options(t))
	ctx, cancel := context.WithTimeout(t.Context(), checkTime)
	defer cancel()
	in, err := rt.Create(ctx, launch.InstanceSpec{Name: unique(), Labels: labels(), Origin: launch.Origin{Image: "tiny"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := destroy(ctx, rt, in); err != nil {
			t.Error(err)
		}
	}()
	h, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: "x", Argv: []string{"/bin/sh", "-c", "echo up; while [ ! -e " + in.Dir + "/end ]; do sleep 0.1; done; echo down; exit 37"}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := h.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range [][]string{{"restart"}, {"kill", "start"}} {
		lost := make(chan error, 1)
		go func() { // dropped with the daemon
			_, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"sleep", "30"}})
			lost <- err
		}()
		if err := untilMarked(ctx, "sleep\x0030", 1); err != nil {
			t.Fatal(err)
		}
		for _, action := range fault {
			if err := run(ctx, filepath.Join(dir, "incusd"), "1", action); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-lost; err == nil {
			t.Errorf("%v: a command that was lost with the daemon ended without an error", fault)
		}
		now, err := h.State(ctx)
		if err != nil || now.Phase != supervise.Running || now.PID != first.PID || now.Since != first.Since {
			t.Fatalf("%v: %+v, %v; before it was %+v", fault, now, err, first)
		}
	}
	if err := rt.Files(in).Put(ctx, in.Dir+"/end", strings.NewReader(""), 0o600); err != nil {
		t.Fatal(err)
	}
	var exit *supervise.Exit
	if err := until(ctx, "it ends", func() bool { exit, err = h.Exit(ctx); return exit != nil || err != nil }); err != nil {
		t.Fatal(err)
	}
	if err != nil || exit.Code == nil || *exit.Code != 37 {
		t.Errorf("exit %v, %v, want 37", exit, err)
	}
	if text, err := h.Tail(ctx, 0); err != nil || string(text) != "up\ndown\n" {
		t.Errorf("output %q, %v", text, err)
	}
}

// TestIncusCreateCutOff: a create that is cut off at any moment leaves nothing
// that a destroy right after it does not remove.
func TestIncusCreateCutOff(t *testing.T) {
	socket := lab(t, "LAB_H0_INCUS_SOCKET")
	rt := launch.NewIncus(socket, "", options(t))
	client := incus.New(socket, "")
	for i := range 8 {
		name := unique()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*i)*8*time.Millisecond)
		_, err := rt.Create(ctx, launch.InstanceSpec{Name: name, Labels: labels(), Origin: launch.Origin{Image: "tiny"}})
		cancel()
		if err := destroy(t.Context(), rt, launch.Instance{Name: name}); err != nil {
			t.Errorf("cut off after %d: %v", i, err)
		}
		t.Logf("cut off after %d ms: %v", i*i*8, err)
		if _, err := client.Instance(t.Context(), name); !errors.Is(err, incus.ErrNotFound) {
			t.Errorf("cut off after %d ms: it is there again: %v", i*i*8, err)
		}
	}
}
