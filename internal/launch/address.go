package launch

import "context"

// addresser is an engine that knows where this host reaches a container.
type addresser interface {
	address(ctx context.Context, name string) (string, error)
}

// AddressOf is where this host reaches the ports of an instance; false where it
// is not known: the container has no network of its own that leads here.
func AddressOf(ctx context.Context, rt Runtime, in Instance) (string, bool) {
	if bounded, ok := rt.(timed); ok {
		rt = bounded.rt
	}
	c, ok := rt.(*Containers)
	if !ok {
		return in.Address, in.OnHost
	}
	e, ok := c.engine.(addresser)
	if !ok {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	address, err := e.address(ctx, in.Container)
	return address, err == nil && address != ""
}
