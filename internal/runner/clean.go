package runner

import (
	"context"
	"errors"
	"fmt"

	"sweep/internal/launch"
)

// Clean ends and removes what sweeps that died left on this host; with dry
// set it only returns what it would end; otherwise what it ended. It refuses while a sweep runs here.
func Clean(ctx context.Context, rt launch.Runtime, stateDir string, dry bool) ([]launch.Instance, error) {
	unlock, err := lockHost(LockPath(stateDir))
	if err != nil {
		return nil, err
	}
	defer unlock()
	rt = launch.Bounded(rt)
	instances, err := rt.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what sweeps left: %w", err)
	}
	if dry {
		return instances, nil
	}
	var ended []launch.Instance
	var failed []error
	for _, in := range instances {
		if err := rt.Destroy(ctx, in); err != nil {
			failed = append(failed, fmt.Errorf("%w: end %s: %w", ErrHost, in.Name, err))
			continue
		}
		ended = append(ended, in)
	}
	return ended, errors.Join(failed...)
}
