package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Destroy ends every process of the instance and removes it; a fresh container
// goes as a whole, an existing one stays. It refuses what sweep did not make.
func (c *Containers) Destroy(ctx context.Context, in Instance) error {
	if err := c.destroy(ctx, in.Name); err != nil {
		return fmt.Errorf("destroy instance %s: %w", in.Name, err)
	}
	return nil
}

func (c *Containers) destroy(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	defer c.lock(name)()
	m, err := c.readMarker(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c.removeOurs(ctx, name) // its marker may be lost
	}
	if err != nil {
		return err
	}
	if m.Fresh {
		err = c.removeOurs(ctx, m.Container)
	} else {
		err = c.destroyInside(ctx, m)
	}
	if err != nil {
		return err
	}
	return c.dropMarker(name)
}

// removeOurs removes a container that carries our labels, and no other.
func (c *Containers) removeOurs(ctx context.Context, name string) error {
	c.forget(name)
	return again(ctx, func() error {
		found, err := c.engine.look(ctx, name)
		switch {
		case errors.Is(err, ErrGone):
			return nil
		case err != nil:
			return err
		case !c.owns(found):
			return fmt.Errorf("the container %s is %w", name, ErrForeign)
		}
		return c.engine.remove(ctx, name)
	})
}

// destroyInside removes an instance from a container that stays. In one that
// is gone or stopped nothing of it lives.
func (c *Containers) destroyInside(ctx context.Context, m containerMarker) error {
	found, err := c.look(ctx, m.Container)
	if errors.Is(err, ErrGone) || err == nil && !found.running {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := c.binaryThere(ctx, m)
	if err != nil || there == "" { // no binary was ever put there: nothing can have been made
		return err
	}
	call := insideCall{Verb: "destroy", Name: m.Name, Again: true}
	_, err = c.inside(ctx, m.Container, home{bin: there}, call, nil)
	if errors.Is(err, errNoBinary) { // it was removed meanwhile
		var h home
		if h, err = c.home(ctx, m.Container); err == nil {
			_, err = c.inside(ctx, m.Container, h, call, nil)
		}
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// binaryThere is a sweep binary that is in a container, of whatever version
// made the instance; none is put there. "" when there is none.
func (c *Containers) binaryThere(ctx context.Context, m containerMarker) (found string, err error) {
	if m.Bin != "" {
		return m.Bin, nil
	}
	bin, err := c.binary(ctx)
	if err != nil {
		return "", nil //nolint:nilerr // then the create that left the marker had none either
	}
	code := 0
	err = again(ctx, func() error {
		found, _, code, err = c.shell(ctx, m.Container, nil, findScript, filepath.Base(bin))
		return err
	})
	if err != nil || code != 0 {
		return "", err
	}
	return found, nil
}

// look finds a container, waiting for a daemon that restarts.
func (c *Containers) look(ctx context.Context, name string) (found container, err error) {
	err = again(ctx, func() error {
		found, err = c.engine.look(ctx, name)
		return err
	})
	return found, err
}
