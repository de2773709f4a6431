package incus

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Another project has its own instances, and everything works in there.
func TestLabProject(t *testing.T) {
	outside := labClient(t)
	ctx := brief(t, time.Minute)
	const project = "incus-test"
	remove := request{method: http.MethodDelete, path: at("projects", project)}
	_ = outside.change(ctx, remove, neverDone) // what a run that was cut off left
	body := map[string]any{"name": project, "config": map[string]string{"features.images": "false", "features.profiles": "false"}}
	if err := outside.change(ctx, request{method: http.MethodPost, path: at("projects"), body: body}, neverDone); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := outside.change(context.Background(), remove, neverDone); err != nil && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
	c := New(outside.Socket(), project)
	if all, err := c.Instances(ctx, nil); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	name := labInstance(t, c, "project")
	if err := c.Push(ctx, name, "/tmp/file", strings.NewReader("text"), 0o600, 0, 0); err != nil {
		t.Error(err)
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"cat", "/tmp/file"}}); err != nil || string(res.Stdout) != "text" {
		t.Errorf("%+v, %v", res, err)
	}
	if err := c.Patch(ctx, name, map[string]string{"user.sweep.more": "1"}, nil); err != nil {
		t.Error(err)
	}
	if all, err := c.Instances(ctx, map[string]string{"user.sweep.more": "1"}); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := outside.Instance(ctx, name); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrProject) {
		t.Errorf("seen from outside: %v", err)
	}
	if err := c.Create(ctx, CreateRequest{Name: "x", Image: "no-such-image"}); !errors.Is(err, ErrImage) {
		t.Errorf("image: %v", err)
	}
	labRemove(t, c, name)
}
