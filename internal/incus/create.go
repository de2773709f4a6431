package incus

import (
	"context"
	"errors"
	"net/http"
)

// CreateRequest asks for a container. Exactly one of Image and CopyOf is set.
type CreateRequest struct {
	Name   string // letters, digits, dashes
	Image  string // alias or fingerprint, on this daemon
	CopyOf string // an instance of the same project; its snapshots are left out

	// Config are keys such as limits.memory and user.*. A copy has its
	// source's too, under these: its labels as well.
	Config map[string]string
	// Devices by name; see the constructors beside [Disk]. A copy has its
	// source's too.
	Devices map[string]map[string]string
	// Profiles, in order; nil is the default profile, or what the source has.
	Profiles  []string
	Ephemeral bool // it is deleted when it stops
}

// Create makes a container and does not start it. ErrExists when the name is
// taken, ErrImage when there is no such image, ErrNotFound when there is
// nothing to copy, ErrPoolFull. After ErrUnknown, what is there may be half
// made: delete it.
func (c *Client) Create(ctx context.Context, r CreateRequest) error {
	ctx, cancel := context.WithTimeout(ctx, copying)
	defer cancel()
	op := "create the instance " + r.Name
	if r.Name == "" || (r.Image == "") == (r.CopyOf == "") {
		return &Error{Op: op, Text: "it needs a name, and an image or an instance to copy"}
	}
	// The daemon's answers to a taken name and a missing image are texts of its
	// database, so they are looked for first.
	switch _, err := c.Instance(ctx, r.Name); {
	case err == nil:
		return &Error{Op: op, Kind: ErrExists}
	case !errors.Is(err, ErrNotFound):
		return fail(op, err)
	}
	source, err := c.source(ctx, r)
	if err != nil {
		return fail(op, err)
	}
	body := map[string]any{"name": r.Name, "type": "container", "source": source, "ephemeral": r.Ephemeral}
	if r.Config != nil {
		body["config"] = r.Config
	}
	if r.Devices != nil {
		body["devices"] = r.Devices
	}
	if r.Profiles != nil {
		body["profiles"] = r.Profiles
	}
	err = c.change(ctx, request{method: http.MethodPost, path: at("instances"), body: body}, func(ctx context.Context) (bool, string, error) {
		// That it is there does not tell whether its files are whole.
		_, err := c.Instance(ctx, r.Name)
		if errors.Is(err, ErrNotFound) {
			return false, "it is not there now", nil
		}
		return false, "it is there now, perhaps half made: delete it", err
	})
	return c.failed(ctx, op, err)
}

func (c *Client) source(ctx context.Context, r CreateRequest) (map[string]any, error) {
	if r.CopyOf != "" {
		if _, err := c.Instance(ctx, r.CopyOf); err != nil {
			return nil, err
		}
		return map[string]any{"type": "copy", "source": r.CopyOf, "instance_only": true}, nil
	}
	image, err := c.Image(ctx, r.Image)
	if err != nil {
		return nil, err
	}
	return map[string]any{"type": "image", "fingerprint": image.Fingerprint}, nil
}
