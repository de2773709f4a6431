package incus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLabLife(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 2*time.Minute)
	if s, err := c.Server(ctx); err != nil || s.Version == "" || s.Kernel == "" {
		t.Fatalf("%+v, %v", s, err)
	}
	name := labInstance(t, c, "life")
	request := CreateRequest{Name: name, Image: labImage}
	if err := c.Create(ctx, request); !errors.Is(err, ErrExists) {
		t.Errorf("taken: %v", err)
	}
	if err := c.Start(ctx, name); !errors.Is(err, ErrRunning) {
		t.Errorf("started twice: %v", err)
	}
	if err := c.Delete(ctx, name); !errors.Is(err, ErrRunning) {
		t.Errorf("deleted while it runs: %v", err)
	}
	s := labUntil(ctx, t, c, name, func(s State) bool { return s.IPv4().IsValid() })
	if s.Status != Running || s.PID <= 1 || s.Memory <= 0 || s.Processes < 1 || s.Started.IsZero() {
		t.Errorf("state %+v", s)
	}

	copied := name + "-copy"
	labRemove(t, c, copied)
	t.Cleanup(func() { labRemove(t, c, copied) })
	if err := c.Create(ctx, CreateRequest{Name: copied, CopyOf: name, Config: map[string]string{"user.sweep.test": "copy of it"}}); err != nil {
		t.Fatal(err)
	}
	all, err := c.Instances(ctx, map[string]string{"user.sweep.test": "copy of it"})
	if err != nil || len(all) != 1 || all[0].Name != copied || all[0].Status != Stopped {
		t.Errorf("found %+v, %v", all, err)
	}
	all, err = c.Instances(ctx, map[string]string{"user.sweep.test": name})
	if err != nil || len(all) != 1 || all[0].Name != name {
		t.Errorf("found %+v, %v", all, err)
	}
	if err := c.Stop(ctx, copied, true, 0); !errors.Is(err, ErrStopped) {
		t.Errorf("never started: %v", err)
	}
	if err := c.Stop(ctx, name, true, 0); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := c.Stop(ctx, name, true, 0); !errors.Is(err, ErrStopped) {
		t.Errorf("stopped twice: %v", err)
	}
	if s, err := c.State(ctx, name); err != nil || s.Status != Stopped || s.PID != 0 || s.IPv4().IsValid() {
		t.Errorf("stopped: %+v, %v", s, err)
	}
	if err := c.Delete(ctx, name); err != nil {
		t.Error(err)
	}
	if err := c.Delete(ctx, name); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestLabMissing(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, time.Minute)
	if err := c.Create(ctx, CreateRequest{Name: "incus-test-missing", Image: "no-such-image"}); !errors.Is(err, ErrImage) {
		t.Errorf("image: %v", err)
	}
	if err := c.Create(ctx, CreateRequest{Name: "incus-test-missing", CopyOf: "no-such-instance"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("source: %v", err)
	}
	if err := c.Create(ctx, CreateRequest{Name: "incus-test-missing", Image: labImage, Devices: map[string]map[string]string{"d": Disk("/no/such/dir", "/mnt", false, true)}}); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("disk: %v", err)
	}
	if image, err := c.Image(ctx, labImage); err != nil || len(image.Fingerprint) != 64 {
		t.Errorf("image: %+v, %v", image, err)
	}
	if _, err := c.GPUs(ctx); err != nil {
		t.Error(err)
	}
	elsewhere := New(c.Socket(), "no-such-project")
	_, listed := elsewhere.Instances(ctx, nil)
	_, looked := elsewhere.Instance(ctx, "x")
	_, ran := elsewhere.Exec(ctx, "x", ExecRequest{Argv: []string{"true"}})
	_, read := elsewhere.ReadAt(ctx, "x", "/etc/passwd", 0, 1)
	for what, err := range map[string]error{"list": listed, "look": looked, "create": elsewhere.Create(ctx, CreateRequest{Name: "x", Image: labImage}), "check": elsewhere.CheckProject(ctx),
		"start": elsewhere.Start(ctx, "x"), "delete": elsewhere.Delete(ctx, "x"), "exec": ran, "read": read} {
		if !errors.Is(err, ErrProject) {
			t.Errorf("%s in a missing project: %v", what, err)
		}
	}
}

// A frozen container says so everywhere, and a stop with force still ends it.
func TestLabFrozen(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 2*time.Minute)
	name := labInstance(t, c, "frozen")
	if err := c.Freeze(ctx, name); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"true"}}); !errors.Is(err, ErrFrozen) {
		t.Errorf("exec: %v", err)
	}
	if err := c.Start(ctx, name); !errors.Is(err, ErrFrozen) {
		t.Errorf("start: %v", err)
	}
	if err := c.Freeze(ctx, name); !errors.Is(err, ErrFrozen) {
		t.Errorf("freeze: %v", err)
	}
	if err := c.Delete(ctx, name); !errors.Is(err, ErrRunning) {
		t.Errorf("delete: %v", err)
	}
	// Its files are there all the same.
	if text, err := c.ReadAt(ctx, name, "/etc/hostname", 0, 100); err != nil || len(text) == 0 {
		t.Errorf("read: %q, %v", text, err)
	}
	if err := c.Unfreeze(ctx, name); err != nil {
		t.Error(err)
	}
	if err := c.Unfreeze(ctx, name); !errors.Is(err, ErrRunning) {
		t.Errorf("unfreeze: %v", err)
	}
	if err := errors.Join(c.Freeze(ctx, name), c.Stop(ctx, name, true, 0)); err != nil {
		t.Error(err)
	}
	if _, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"true"}}); !errors.Is(err, ErrStopped) {
		t.Errorf("exec when stopped: %v", err)
	}
}

func TestLabPatch(t *testing.T) {
	c := labClient(t)
	ctx := brief(t, 2*time.Minute)
	name := labInstance(t, c, "patch")
	add := map[string]map[string]string{"null": CharDevice("/dev/null", "/dev/nvidia0")}
	for range 2 {
		if err := c.Patch(ctx, name, map[string]string{"user.sweep.more": "1"}, add); err != nil {
			t.Fatal(err)
		}
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"test", "-c", "/dev/nvidia0"}}); err != nil || res.Code != 0 {
		t.Errorf("the device: %+v, %v", res, err)
	}
	in, err := c.Instance(ctx, name)
	if err != nil || in.Config["user.sweep.more"] != "1" || in.Config["user.sweep.test"] != name || in.Devices["null"]["type"] != "unix-char" {
		t.Errorf("%+v, %v", in, err)
	}
	if err := c.Patch(ctx, name, map[string]string{"user.sweep.more": ""}, map[string]map[string]string{"null": nil}); err != nil {
		t.Fatal(err)
	}
	in, err = c.Instance(ctx, name)
	if _, there := in.Config["user.sweep.more"]; err != nil || there || len(in.Devices) != 0 || in.Config["user.sweep.test"] != name {
		t.Errorf("%+v, %v", in, err)
	}
	if err := c.Patch(ctx, name, nil, map[string]map[string]string{"g": GPU("0000:99:00.0")}); err == nil || !strings.Contains(err.Error(), "0000:99:00.0") {
		t.Errorf("a GPU that is not there: %v", err)
	}
}

// labUntil looks at the state again and again until it is as wanted.
func labUntil(ctx context.Context, t *testing.T, c *Client, name string, ok func(State) bool) State {
	t.Helper()
	for {
		s, err := c.State(ctx, name)
		if err != nil {
			t.Fatalf("state %+v: %v", s, err)
		}
		if ok(s) || !sleep(ctx, 20*time.Millisecond) {
			return s
		}
	}
}
