package incus

import (
	"context"
	"errors"
	"testing"
	"time"
)

const (
	stateX = "PUT /1.0/instances/x/state?project=default"
	start  = `{"action":"start","force":false,"timeout":-1}`
)

func TestPower(t *testing.T) {
	for name, c := range map[string]struct {
		call func(*Client, context.Context) error
		body string
	}{
		"start":           {func(c *Client, ctx context.Context) error { return c.Start(ctx, "x") }, start},
		"stop":            {func(c *Client, ctx context.Context) error { return c.Stop(ctx, "x", false, 1500*time.Millisecond) }, `{"action":"stop","force":false,"timeout":2}`},
		"stop with force": {func(c *Client, ctx context.Context) error { return c.Stop(ctx, "x", true, time.Second) }, `{"action":"stop","force":true,"timeout":-1}`},
		"freeze":          {func(c *Client, ctx context.Context) error { return c.Freeze(ctx, "x") }, `{"action":"freeze","force":false,"timeout":-1}`},
		"unfreeze":        {func(c *Client, ctx context.Context) error { return c.Unfreeze(ctx, "x") }, `{"action":"unfreeze","force":false,"timeout":-1}`},
	} {
		// An operation that still runs is waited for again.
		client := script(t, "", step{want: stateX, body: c.body, answer: accepted}, step{want: waitGet, answer: opRuns}, step{want: waitGet, answer: opDone})
		if err := c.call(client, t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := script(t, "", step{want: "DELETE /1.0/instances/x?project=default", answer: accepted}, step{want: waitGet, answer: opDone}).Delete(t.Context(), "x"); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// The daemon has many words and codes for the same state: the state tells.
func TestPowerRefused(t *testing.T) {
	started := step{want: stateX, body: start, answer: accepted}
	del := step{want: "DELETE /1.0/instances/x?project=default", status: 400, answer: refusal(400, "Instance is running")}
	begin := func(c *Client, ctx context.Context) error { return c.Start(ctx, "x") }
	remove := func(c *Client, ctx context.Context) error { return c.Delete(ctx, "x") }
	for name, c := range map[string]struct {
		call  func(*Client, context.Context) error
		steps []step
		want  error
	}{
		"running":       {begin, []step{started, {want: waitGet, answer: refusal(500, "The instance is already running")}, isStatus(Running)}, ErrRunning},
		"frozen":        {begin, []step{started, {want: waitGet, answer: refusal(500, "The instance is already running")}, isStatus(Frozen)}, ErrFrozen},
		"no GPU":        {begin, []step{started, {want: waitGet, answer: refusal(500, `Failed to start device "gpu0": Failed to detect requested GPU device`)}, isStatus(Stopped)}, nil},
		"not there":     {begin, []step{{want: stateX, body: start, status: 404, answer: notFound.answer}}, ErrNotFound},
		"op says 404":   {begin, []step{started, {want: waitGet, answer: refusal(404, "Instance not found")}}, ErrNotFound},
		"busy":          {begin, []step{started, {want: waitGet, answer: refusal(500, `Instance is busy running a "stop" operation`)}}, ErrBusy},
		"delete":        {remove, []step{del, isStatus(Running)}, ErrRunning},
		"delete frozen": {remove, []step{{want: del.want, status: 400, answer: refusal(400, "Instance is frozen")}, isStatus(Frozen)}, ErrRunning},
	} {
		err := c.call(script(t, "", c.steps...), t.Context())
		if e, ok := errors.AsType[*Error](err); !ok || c.want != nil && !errors.Is(err, c.want) || c.want == nil && e.Kind != nil || errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// The daemon restarts in the middle. The script shows that the command itself
// is sent again only where it was refused.
func TestPowerLost(t *testing.T) {
	started := step{want: stateX, body: start, answer: accepted}
	gone := step{want: waitGet, status: 404, answer: refusal(404, "Operation not found")}
	for name, c := range map[string]struct {
		steps []step
		want  error
	}{
		"refused, then taken":         {[]step{{want: stateX, body: start, status: 503, answer: going}, started, {want: waitGet, answer: opDone}}, nil},
		"answer lost, done":           {[]step{{want: stateX, body: start, status: drop}, isStatus(Running)}, nil},
		"answer lost, not done":       {[]step{{want: stateX, body: start, status: drop}, isStatus(Stopped)}, ErrUnknown},
		"answer broken off":           {[]step{{want: stateX, body: start, answer: accepted[:40]}, isStatus(Stopped)}, ErrUnknown},
		"wait lost, then done":        {[]step{started, {want: waitGet, status: drop}, {want: waitGet, status: 503, answer: going}, {want: waitGet, answer: opDone}}, nil},
		"operation gone, done":        {[]step{started, {want: waitGet, status: drop}, gone, isStatus(Running)}, nil},
		"operation gone, not done":    {[]step{started, gone, isStatus(Stopped)}, ErrUnknown},
		"operation gone, looks twice": {[]step{started, gone, {want: instanceX, status: drop}, {want: instanceX, status: 503, answer: going}, isStatus(Running)}, nil},
	} {
		if err := script(t, "", c.steps...).Start(t.Context(), "x"); c.want == nil && err != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	stop := step{want: stateX, body: `{"action":"stop","force":true,"timeout":-1}`, status: drop}
	if err := script(t, "", stop, free).Stop(t.Context(), "x", true, 0); err != nil {
		t.Errorf("an ephemeral one that is gone: %v", err)
	}
	del := step{want: "DELETE /1.0/instances/x?project=default", status: drop}
	if err := script(t, "", del, free).Delete(t.Context(), "x"); err != nil {
		t.Errorf("deleted and not heard of: %v", err)
	}
	if err := script(t, "", del, isStatus(Stopped)).Delete(t.Context(), "x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("still there: got %v, want ErrUnknown", err)
	}
}

// Nobody waits for longer than asked, and how it ended is then not known.
func TestPowerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, "", hangAfter(t, cancel))
	err := c.Start(ctx, "x")
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrUnknown and context.Canceled", err)
	}
}
