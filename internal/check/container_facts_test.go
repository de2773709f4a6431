package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sweep/internal/sweep"
)

// inspected is a container tool that says of a container what it is told.
func inspected(t *testing.T, image string, env []string, host map[string]any) Tools {
	t.Helper()
	text, err := json.Marshal([]any{map[string]any{"Id": "x", "Image": image, "Config": map[string]any{"Env": env, "Cmd": []string{"serve"}, "User": "u"}, "HostConfig": host}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := "#!/bin/sh\ntest \"$1\" = inspect && test \"$DOCKER_HOST\" = unix:///d && test -z \"$CONTAINERS_CONF\" && exec cat " + filepath.Join(dir, "said.json") + "\necho wrong >&2; exit 1\n"
	write(t, dir, map[string]string{"said.json": string(text), "podman": program})
	if err := os.Chmod(filepath.Join(dir, "podman"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("CONTAINERS_CONF", "/a/persons/own")
	return Tools{Docker: filepath.Join(dir, "podman"), DockerEnv: []string{"DOCKER_HOST=unix:///d"}}
}

// host is what Podman says of one container's setup: id is in its log's path.
func host(id string, shm int, binds ...string) map[string]any {
	return map[string]any{"ShmSize": shm, "Binds": binds, "ContainerIDFile": "/run/" + id, "LogConfig": map[string]any{"Type": "k8s-file", "Path": "/c/" + id + "/ctr.log"}}
}

// Two containers that were made alike are alike; another setting shows.
func TestDockerFactsOfAnExistingContainer(t *testing.T) {
	c := sweep.Container{Runtime: sweep.RuntimeDocker, Instance: "glm5"}
	facts := func(tools Tools) sweep.ContainerFacts {
		t.Helper()
		f, err := containerFacts(t.Context(), tools, c, "glm5")
		if err != nil {
			t.Fatal(err)
		}
		return *f
	}
	const mount = "/models:/models:ro,rprivate,rbind"
	first := facts(inspected(t, "i1", []string{"PATH=/bin", "container=podman", "HOSTNAME=aaa"}, host("aaa", 64, mount, "/cache/sweep-1:/var/lib/sweep/bin/sweep-1:ro")))
	if first.Image != "i1" || len(first.Config) != 64 {
		t.Errorf("%+v", first)
	}
	if again := facts(inspected(t, "i1", []string{"container=podman", "HOSTNAME=bbb", "PATH=/bin"}, host("bbb", 64, mount, "/cache/sweep-2:/var/lib/sweep/bin/sweep-2:ro"))); again != first {
		t.Errorf("made alike, and differs: %+v and %+v", first, again)
	}
	for name, other := range map[string]Tools{
		"environment": inspected(t, "i1", []string{"PATH=/bin", "container=podman", "NCCL_ALGO=Ring"}, host("aaa", 64, mount)),
		"shm":         inspected(t, "i1", []string{"PATH=/bin", "container=podman"}, host("aaa", 128, mount)),
		"mount":       inspected(t, "i1", []string{"PATH=/bin", "container=podman"}, host("aaa", 64, "/other:/models:ro")),
	} {
		if facts(other).Config == first.Config {
			t.Errorf("another %s does not show", name)
		}
	}
}

// A fresh container is its image and what the plan says, whatever the tool says
// of this one.
func TestDockerFactsOfAFreshContainer(t *testing.T) {
	c := sweep.Container{Runtime: sweep.RuntimeDocker, Image: "sglang", Config: map[string]string{"shm-size": "32g"}}
	of := func(c sweep.Container, tools Tools) sweep.ContainerFacts {
		t.Helper()
		f, err := containerFacts(t.Context(), tools, c, "sweep-facts-1-1")
		if err != nil {
			t.Fatal(err)
		}
		return *f
	}
	first := of(c, inspected(t, "i1", []string{"A=1"}, host("aaa", 32)))
	c.Devices = map[string]map[string]string{}
	if again := of(c, inspected(t, "i1", []string{"A=2"}, host("bbb", 33, "/x:/y"))); again != first {
		t.Errorf("%+v and %+v", first, again)
	}
	if other := of(c, inspected(t, "i2", []string{"A=1"}, host("aaa", 32))); other.Image != "i2" {
		t.Errorf("another image: %+v", other)
	}
	c.Config = map[string]string{"shm-size": "16g"}
	if other := of(c, inspected(t, "i1", []string{"A=1"}, host("aaa", 32))); other.Config == first.Config {
		t.Error("another config does not show")
	}
	c.Config, c.Devices = map[string]string{"shm-size": "32g"}, map[string]map[string]string{"m": {"type": "disk", "source": "/m"}}
	if other := of(c, inspected(t, "i1", []string{"A=1"}, host("aaa", 32))); other.Config == first.Config {
		t.Error("another device does not show")
	}
}

func TestDockerToolIsTheOneThatWasDecidedOn(t *testing.T) {
	plan := planOf(sweep.Configuration{Flags: eightCards(), Container: sweep.Container{Runtime: sweep.RuntimeDocker, Instance: "glm5"}})
	o := options(t, well(), smi{cards: eight(1)})
	dir := t.TempDir()
	o.Tools.Docker = filepath.Join(dir, "podman")
	for _, c := range []struct {
		program string
		grade   Grade
		words   string
	}{{"echo 4.3.1", OK, "podman 4.3.1 answers"}, {"echo no socket >&2; exit 125", Fail, "no socket"}} {
		if err := os.WriteFile(o.Tools.Docker, []byte("#!/bin/sh\n"+c.program+"\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		wants(t, checked(t, plan, o), Host, "podman", c.grade, c.words)
	}
	o.Tools.Docker = ""
	if x := find(checked(t, plan, o), Host, "docker"); x.Grade != Fail || !strings.Contains(x.Finding, "neither docker nor podman") {
		t.Errorf("%+v", x)
	}
}
