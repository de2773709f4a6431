package incus

import (
	"context"
	"errors"
	"maps"
	"net/http"
)

// patchTries bounds how often a change starts anew because somebody else
// changed the instance at the same time. The daemon itself is one who does.
const patchTries = 10

// record is all of an instance that can be changed.
type record struct {
	Architecture string                       `json:"architecture"`
	Config       map[string]string            `json:"config"`
	Devices      map[string]map[string]string `json:"devices"`
	Ephemeral    bool                         `json:"ephemeral"`
	Profiles     []string                     `json:"profiles"`
	Stateful     bool                         `json:"stateful"`
	Description  string                       `json:"description"`
}

// Patch changes an instance, running or not. A config key with an empty value
// is removed, and so is a device that is nil; what is not named stays as it is.
// Doing it twice is doing it once. ErrBusy while something else is being done
// to the instance.
func (c *Client) Patch(ctx context.Context, name string, config map[string]string, devices map[string]map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, changing)
	defer cancel()
	op := "change the instance " + name
	// HTTP's PATCH cannot remove a device, so the whole record is read, changed
	// and written on the condition that it is still the one that was read.
	var err error
	for range patchTries {
		var now record
		etag, readErr := c.getTagged(ctx, request{path: at("instances", name)}, &now)
		if readErr != nil {
			return c.failed(ctx, op, readErr)
		}
		if !now.merge(config, devices) {
			return nil
		}
		err = c.change(ctx, request{method: http.MethodPut, path: at("instances", name), body: now, match: etag}, neverDone)
		if e, ok := errors.AsType[*Error](err); ok && e.Code == http.StatusPreconditionFailed || errors.Is(err, ErrUnknown) && ctx.Err() == nil {
			continue // reading it again is the look
		}
		return c.failed(ctx, op, err)
	}
	return fail(op, err)
}

func neverDone(context.Context) (bool, string, error) { return false, "", nil }

// merge tells whether anything changes.
func (r *record) merge(config map[string]string, devices map[string]map[string]string) bool {
	before := record{Config: maps.Clone(r.Config), Devices: maps.Clone(r.Devices)}
	if r.Config == nil {
		r.Config = map[string]string{}
	}
	for k, v := range config {
		if r.Config[k] = v; v == "" {
			delete(r.Config, k)
		}
	}
	if r.Devices == nil {
		r.Devices = map[string]map[string]string{}
	}
	for k, d := range devices {
		if r.Devices[k] = d; d == nil {
			delete(r.Devices, k)
		}
	}
	return !maps.Equal(before.Config, r.Config) ||
		!maps.EqualFunc(before.Devices, r.Devices, maps.Equal[map[string]string, map[string]string])
}
