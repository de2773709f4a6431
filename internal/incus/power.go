package incus

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Start starts a stopped container and returns when its first process runs;
// addresses come later. ErrRunning and ErrFrozen when it is not stopped.
func (c *Client) Start(ctx context.Context, name string) error {
	return c.power(ctx, name, "start", 0, false, Running, map[Status]error{Running: ErrRunning, Frozen: ErrFrozen})
}

// Stop stops a container. Without force its init is asked, and timeout (rounded
// up to seconds) is what it gets to comply; when that is over the error is a
// plain one, the container may still go down, and Stop with force is next.
// With force it is killed, frozen or not, and timeout is not used. ErrStopped
// when it is stopped already. An ephemeral container is gone afterwards.
func (c *Client) Stop(ctx context.Context, name string, force bool, timeout time.Duration) error {
	return c.power(ctx, name, "stop", timeout, force, Stopped, map[Status]error{Stopped: ErrStopped})
}

// Freeze stops every process of a running container where it is.
func (c *Client) Freeze(ctx context.Context, name string) error {
	return c.power(ctx, name, "freeze", 0, false, Frozen, map[Status]error{Frozen: ErrFrozen, Stopped: ErrStopped})
}

// Unfreeze lets a frozen container go on.
func (c *Client) Unfreeze(ctx context.Context, name string) error {
	return c.power(ctx, name, "unfreeze", 0, false, Running, map[Status]error{Running: ErrRunning, Stopped: ErrStopped})
}

// power asks for another state. kinds names what a state means that forbids it.
func (c *Client) power(ctx context.Context, name, action string, timeout time.Duration, force bool, want Status, kinds map[Status]error) error {
	ctx, cancel := context.WithTimeout(ctx, changing+timeout)
	defer cancel()
	body := map[string]any{"action": action, "force": force, "timeout": -1}
	if !force && timeout > 0 {
		body["timeout"] = int((timeout + time.Second - 1) / time.Second)
	}
	err := c.change(ctx, request{method: http.MethodPut, path: at("instances", name, "state"), body: body}, func(ctx context.Context) (bool, string, error) {
		in, err := c.Instance(ctx, name)
		if errors.Is(err, ErrNotFound) && want == Stopped {
			return true, "", nil // an ephemeral one that stopped
		}
		return in.Status == want, "it is " + string(in.Status) + " now", err
	})
	return c.judged(ctx, action+" the instance "+name, name, err, kinds)
}

// judged names the kind of a refusal by the state that the instance is in: the
// daemon's texts and codes for that differ from call to call.
func (c *Client) judged(ctx context.Context, op, name string, err error, kinds map[Status]error) error {
	e, refusal := errors.AsType[*Error](err)
	hinted := errors.Is(err, ErrStopped) || errors.Is(err, ErrFrozen)
	if refusal && e.Code != 0 && (e.Kind == nil || hinted) {
		if in, lookErr := c.Instance(ctx, name); lookErr == nil && kinds[in.Status] != nil {
			e.Kind = kinds[in.Status]
		}
	}
	return c.failed(ctx, op, err)
}

// Delete removes a stopped container with its files. ErrNotFound when it is
// gone already, ErrRunning when it is not stopped.
func (c *Client) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, copying)
	defer cancel()
	err := c.change(ctx, request{method: http.MethodDelete, path: at("instances", name)}, func(ctx context.Context) (bool, string, error) {
		_, err := c.Instance(ctx, name)
		if errors.Is(err, ErrNotFound) {
			return true, "", nil
		}
		return false, "it is still there", err
	})
	return c.judged(ctx, "delete the instance "+name, name, err, map[Status]error{Running: ErrRunning, Frozen: ErrRunning})
}
