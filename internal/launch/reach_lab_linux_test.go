package launch

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sweep/internal/supervise"
)

// labContainer is an instance in a fresh LXC container without a network; the
// test is skipped without a lab.
func labContainer(t *testing.T) (Runtime, Instance) {
	t.Helper()
	path, images := os.Getenv("LAB_LXCPATH"), os.Getenv("LAB_IMAGES")
	if path == "" || images == "" {
		t.Skip("no lab: LAB_LXCPATH is not set; `lab/up` brings one up, see lab/README.md")
	}
	agent := filepath.Join(t.TempDir(), "sweep")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", agent, "sweep/internal/launch/runtimetest/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	rt := Bounded(NewLXC(path, ContainerOptions{StateDir: t.TempDir(), CacheDir: t.TempDir(), Agent: agent}))
	spec := InstanceSpec{Name: "sweep-reach-" + strconv.Itoa(os.Getpid()), Origin: Origin{Image: filepath.Join(images, "tiny.tar.gz")}}
	t.Cleanup(func() {
		if err := rt.Destroy(context.WithoutCancel(t.Context()), Instance{Name: spec.Name}); err != nil {
			t.Error(err)
		}
	})
	in, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return rt, in
}

// TestE11E22A06ReachedFromInside: without any forward, a server in a container that has no address at
// all, and that listens on loopback only, is reached from where the load comes,
// and what holds its port is named.
func TestE11E22A06ReachedFromInside(t *testing.T) {
	rt, in := labContainer(t)
	const port = 30123
	r := reachOf(rt, in)
	if open, err := r.open(t.Context(), port); open || err != nil {
		t.Fatalf("before anything listens: %v, %v", open, err)
	}
	if _, ok := AddressOf(t.Context(), rt, in); ok {
		t.Error("a container without a network has an address")
	}
	client := &http.Client{Transport: r.transport(port)}
	if _, err := client.Get("http://127.0.0.1:30123/"); err == nil {
		t.Error("a request to nobody was answered")
	}
	held, err := Hold(t.Context(), rt, in, supervise.Spec{ID: "web", Grace: time.Second,
		Argv: []string{"/bin/httpd", "-f", "-p", "127.0.0.1:30123", "-h", "/etc"}})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if open, err := r.open(t.Context(), port); open && err == nil {
			break
		}
		if time.Now().After(deadline) {
			text, _ := held.Tail(t.Context(), 0)
			t.Fatalf("nobody listens: %s", text)
		}
	}
	resp, err := client.Get("http://127.0.0.1:30123/hostname")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	_, err = StartServer(t.Context(), rt, in, ServerSpec{HoldID: "server-1", Argv: []string{"/bin/true"}, Port: port})
	var start *StartError
	if !errors.As(err, &start) || !strings.Contains(start.Cause.Line, "/bin/httpd") {
		t.Errorf("a start on a taken port: %v", err)
	}
}
