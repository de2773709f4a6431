package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	h, err := c.home(ctx, m.Container)
	if err != nil {
		return err
	}
	_, err = c.inside(ctx, m.Container, h, insideCall{Verb: "destroy", Name: m.Name, Again: true}, nil)
	return err
}

// look finds a container, waiting for a daemon that restarts.
func (c *Containers) look(ctx context.Context, name string) (found container, err error) {
	err = again(ctx, func() error {
		found, err = c.engine.look(ctx, name)
		return err
	})
	return found, err
}
