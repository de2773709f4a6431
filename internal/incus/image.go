package incus

import (
	"context"
	"errors"
)

// Image is what containers are made of.
type Image struct {
	Fingerprint string            `json:"fingerprint"` // SHA-256, the identity of its content
	Properties  map[string]string `json:"properties"`
	Size        int64             `json:"size"` // bytes, compressed
}

// Image finds an image on this daemon by its alias, or by its fingerprint or
// the beginning of one. ErrImage when there is none.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	op := "look for the image " + name
	fingerprint := name
	var alias struct {
		Target string `json:"target"`
	}
	err := c.get(ctx, request{path: at("images", "aliases", name)}, &alias)
	switch {
	case err == nil:
		fingerprint = alias.Target
	case !errors.Is(err, ErrNotFound):
		return Image{}, c.failed(ctx, op, err)
	}
	var image Image
	if err := c.get(ctx, request{path: at("images", fingerprint)}, &image); err != nil {
		if err := c.failed(ctx, op, err); !errors.Is(err, ErrNotFound) {
			return Image{}, err
		}
		return Image{}, &Error{Op: op, Code: 404, Kind: ErrImage, Text: "`incus image list` shows what is there"}
	}
	return image, nil
}
